namespace Treepie.Server.Hosting;

/// <summary>
/// A directory that lives as long as the server. Its name says whose it is: servers of one machine share the directory it is in,
/// and one that was killed leaves its own.
/// </summary>
internal sealed class TemporaryDataDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory($"treepie-memory-{Environment.ProcessId}-").FullName;

    public void Dispose()
    {
        if (Directory.Exists(Path))
            Directory.Delete(Path, recursive: true);
    }
}
