using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Snapshots;

/// <summary>The expected content of an environment, including its named snapshots.</summary>
internal sealed class SnapshotModel
{
    public Model State { get; private init; } = new();

    public Dictionary<string, Model> Named { get; private init; } = new(StringComparer.Ordinal);

    // Models of named snapshots never change.
    public SnapshotModel Copy() => new() { State = State.Copy(), Named = new(Named, StringComparer.Ordinal) };

    /// <summary>Whether an environment has exactly this content.</summary>
    public bool IsEqual(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        if (!State.IsEqual(read)
            || !environment.ListSnapshots().Select(info => info.Name).ToHashSet(StringComparer.Ordinal).SetEquals(Named.Keys))
            return false;

        foreach ((string name, Model expected) in Named)
        {
            using ReadTransaction snapshot = environment.OpenSnapshot(name);
            if (!expected.IsEqual(snapshot))
                return false;
        }

        return true;
    }

    /// <summary>
    /// Returns one random command: changes, and sometimes the creation or deletion of a snapshot. Draws everything in
    /// advance, so that it does the same each time it runs.
    /// </summary>
    public static Func<WriteTransaction, bool> Next(Random random, Workload workload, SnapshotModel model)
    {
        Func<WriteTransaction, bool> changes = workload.Next(model.State);
        string name = $"snapshot {random.Next(8)}";
        bool drops = random.Next(3) == 0 && model.Named.Remove(name);
        bool makes = random.Next(3) == 0 && !model.Named.ContainsKey(name);
        if (makes)
            model.Named.Add(name, model.State.Copy());
        return transaction =>
        {
            bool dropped = drops && transaction.DropSnapshot(name);
            if (makes)
                transaction.CreateSnapshot(name); // created before the changes, but includes them
            changes(transaction);
            return dropped;
        };
    }
}
