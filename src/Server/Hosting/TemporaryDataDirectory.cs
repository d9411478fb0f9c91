namespace Treepie.Server.Hosting;

/// <summary>
/// A directory that is deleted when the server stops. Its name contains the process id, because the servers of a machine
/// share the parent directory, and one that was killed leaves its directory behind.
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
