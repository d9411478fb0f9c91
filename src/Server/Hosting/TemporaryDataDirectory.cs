namespace Treepie.Server.Hosting;

/// <summary>A directory that lives as long as the server.</summary>
internal sealed class TemporaryDataDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("treepie-memory-").FullName;

    public void Dispose()
    {
        if (Directory.Exists(Path))
            Directory.Delete(Path, recursive: true);
    }
}
