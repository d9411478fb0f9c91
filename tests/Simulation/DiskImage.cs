namespace Treepie.Storage.Simulation;

/// <summary>The durable state of a disk: names and contents of its files. Immutable; disks can be created from it.</summary>
internal sealed class DiskImage
{
    public DiskImage(IReadOnlyDictionary<string, DiskContent> files)
    {
        Files = files;
        ulong hash = 0;
        foreach ((string name, DiskContent content) in files)
            hash = unchecked(hash + (content.Hash() * (NameHash(name) | 1)) + NameHash(name));
        Hash = hash;
    }

    /// <summary>A disk without files.</summary>
    public static DiskImage Empty { get; } = new(new Dictionary<string, DiskContent>());

    public IReadOnlyDictionary<string, DiskContent> Files { get; }

    /// <summary>Equal for equal images.</summary>
    public ulong Hash { get; }

    /// <summary>Returns a copy with a file replaced or added.</summary>
    public DiskImage With(string name, DiskContent content) =>
        new(new Dictionary<string, DiskContent>(Files) { [name] = content });

    /// <summary>Returns a copy without a file.</summary>
    public DiskImage Without(string name)
    {
        var files = new Dictionary<string, DiskContent>(Files);
        files.Remove(name);
        return new DiskImage(files);
    }

    /// <summary>The first file that contains <see cref="SecretMarker"/>, or null.</summary>
    public string? FindMarker() => Files.FirstOrDefault(file => file.Value.HoldsMarker()).Key;

    private static ulong NameHash(string name)
    {
        ulong hash = 14695981039346656037;
        foreach (char letter in name)
            hash = unchecked((hash ^ letter) * 1099511628211);
        return hash;
    }
}
