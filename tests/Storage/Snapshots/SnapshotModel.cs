using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Snapshots;

/// <summary>What an environment should hold, its named snapshots included.</summary>
internal sealed class SnapshotModel
{
    public Model State { get; private init; } = new();

    public Dictionary<string, Model> Named { get; private init; } = new(StringComparer.Ordinal);

    // named models never change
    public SnapshotModel Copy() => new() { State = State.Copy(), Named = new(Named, StringComparer.Ordinal) };

    /// <summary>Whether an environment holds exactly this.</summary>
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
    /// One random command over a model: changes, and now and then a snapshot that it makes or drops. Draws all it does first, so
    /// that it does the same each time it runs.
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
                transaction.CreateSnapshot(name); // before the changes, and yet it has them
            changes(transaction);
            return dropped;
        };
    }
}
