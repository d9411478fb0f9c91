using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// An empty storage environment as an index has one, with relaxed durability. It goes with its directory at the end of the test.
/// </summary>
public sealed class TemporaryStore : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public TemporaryStore() => Environment = Open();

    public StorageEnvironment Environment { get; private set; }

    /// <summary>Closes it and opens it again.</summary>
    public void Reopen()
    {
        Environment.Dispose();
        Environment = Open();
    }

    public void Dispose()
    {
        Environment.Dispose();
        _directory.Dispose();
    }

    private StorageEnvironment Open() =>
        StorageEnvironment.Open(_directory.Path, new StorageOptions { Durability = Durability.Relaxed });
}
