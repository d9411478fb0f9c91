using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// One unchanging view of the whole environment. May be used from one thread at a time, any thread; disposing it ends
/// the life of every span read through it.
/// </summary>
public sealed class ReadTransaction : IDisposable
{
    internal ReadTransaction()
    {
    }

    /// <summary>The transaction whose result is seen.</summary>
    public long TransactionId => throw new NotImplementedException();

    /// <summary>The tree of that name, or null.</summary>
    public Tree? FindTree(string name) => throw new NotImplementedException();

    /// <summary>Names of all trees, in byte order.</summary>
    public IEnumerable<string> TreeNames => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();
}
