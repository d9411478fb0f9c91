using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>The one writer's view: sees its own changes. Lives only inside the command it was given to.</summary>
public sealed class WriteTransaction
{
    internal WriteTransaction()
    {
    }

    /// <summary>The number this transaction will have once committed.</summary>
    public long TransactionId => throw new NotImplementedException();

    /// <summary>The tree of that name, or null.</summary>
    public Tree? FindTree(string name) => throw new NotImplementedException();

    /// <summary>The tree of that name, created empty if absent.</summary>
    public Tree GetOrCreateTree(string name) => throw new NotImplementedException();

    /// <summary>Removes a tree with all it holds; false if there is none.</summary>
    public bool DropTree(string name) => throw new NotImplementedException();

    /// <summary>Names of all trees, in byte order.</summary>
    public IEnumerable<string> TreeNames => throw new NotImplementedException();
}
