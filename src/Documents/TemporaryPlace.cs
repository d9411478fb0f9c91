namespace Treepie;

/// <summary>
/// A temporary directory that is deleted when disposed: in shared memory if the system has it, otherwise among the temporary
/// files.
/// </summary>
internal sealed class TemporaryPlace : IDisposable
{
    private const string SharedMemory = "/dev/shm";

    public TemporaryPlace()
    {
        string root = Directory.Exists(SharedMemory) ? SharedMemory : System.IO.Path.GetTempPath();
        Path = System.IO.Path.Combine(root, $"treepie-{Guid.NewGuid():N}");
    }

    /// <summary>Path of the directory, which its user creates.</summary>
    public string Path { get; }

    public void Dispose()
    {
        try
        {
            Directory.Delete(Path, recursive: true);
        }
        catch (DirectoryNotFoundException)
        {
            // The directory was never created.
        }
    }
}
