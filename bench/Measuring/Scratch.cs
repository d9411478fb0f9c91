namespace Treepie.Bench.Measuring;

/// <summary>A directory for one measurement, deleted afterwards.</summary>
internal sealed class Scratch : IDisposable
{
    /// <summary>Its path.</summary>
    public string Path { get; } = Directory.CreateTempSubdirectory("treepie-bench-").FullName;

    /// <summary>Bytes of all files in it. A file that is deleted meanwhile, as a journal may be, counts nothing.</summary>
    public long SizeBytes => new DirectoryInfo(Path).EnumerateFiles("*", SearchOption.AllDirectories)
        .Where(static file => file.Exists) // reads what Length then gives
        .Sum(static file => file.Length);

    /// <inheritdoc/>
    public void Dispose() => Directory.Delete(Path, recursive: true);
}
