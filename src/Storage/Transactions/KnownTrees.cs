using Treepie.Storage.Format;

namespace Treepie.Storage.Transactions;

/// <summary>
/// The records of the first few trees that readers of a state look up, so that later readers need not search the catalogue for
/// them. Thread-safe, without locks.
/// </summary>
internal sealed class KnownTrees
{
    /// <summary>The maximum number of records; small, because names are compared one by one.</summary>
    private const int Most = 8;

    private (string Name, TreeRecord Record)[] _known = [];

    /// <summary>Returns the record of a tree or map; null if it is not known.</summary>
    public TreeRecord? Find(string name)
    {
        foreach ((string known, TreeRecord record) in Volatile.Read(ref _known))
            if (known == name)
                return record;

        return null;
    }

    /// <summary>Adds a record. Does nothing if there are enough, or if another reader adds one at the same time.</summary>
    public void Add(string name, TreeRecord record)
    {
        (string Name, TreeRecord Record)[] before = Volatile.Read(ref _known);
        if (before.Length < Most && !Array.Exists(before, known => known.Name == name))
            Interlocked.CompareExchange(ref _known, [.. before, (name, record)], before);
    }
}
