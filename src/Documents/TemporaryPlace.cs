namespace Treepie;

/// <summary>
/// A directory that goes when it is disposed: in memory where the system has a place for that, else among the temporary files.
/// </summary>
internal sealed class TemporaryPlace : IDisposable
{
    private const string SharedMemory = "/dev/shm";

    public TemporaryPlace()
    {
        string root = Directory.Exists(SharedMemory) ? SharedMemory : System.IO.Path.GetTempPath();
        Path = System.IO.Path.Combine(root, $"treepie-{Guid.NewGuid():N}");
    }

    /// <summary>The directory, which whoever uses it makes.</summary>
    public string Path { get; }

    public void Dispose()
    {
        try
        {
            Directory.Delete(Path, recursive: true);
        }
        catch (DirectoryNotFoundException)
        {
            // Nothing was made.
        }
    }
}
