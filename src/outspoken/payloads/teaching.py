def instructions(page): return ""
def manifest(types, replies): return ""
