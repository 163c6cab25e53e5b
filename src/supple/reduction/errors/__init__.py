"""How far reduced models are from their bodies: frequencies, motions, and bases that mend them."""
