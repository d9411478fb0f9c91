namespace Treepie.Tests.Support;

/// <summary>A new, empty directory that is deleted with its content at the end of the test.</summary>
public sealed class TemporaryDirectory : IDisposable
{
    public TemporaryDirectory() => Path = Directory.CreateTempSubdirectory("treepie-").FullName;

    public string Path { get; }

    public void Dispose()
    {
        if (Directory.Exists(Path))
            Directory.Delete(Path, recursive: true);
    }
}
