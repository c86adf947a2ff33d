"""State on disk: a safetensors file with a strict JSON header, written atomically, never pickle."""
