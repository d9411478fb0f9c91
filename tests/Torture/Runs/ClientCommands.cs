using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Sessions;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>What clients ask of the engine, with the note of what was submitted and what was acknowledged.</summary>
internal sealed class ClientCommands(RunState state)
{
    /// <summary>More commits of its own than a shrink of these small files makes.</summary>
    private const int MostCommitsOfShrink = 400;

    /// <summary>
    /// Spans that are held of each tree, from its first to its last key: one in each of the pages of a small tree.
    /// </summary>
    private const int SpansOfTree = 12;

    /// <summary>Gives others their turn in the middle of a command, or null.</summary>
    public Action? YieldInCommand { get; init; }

    public void Write(IReadOnlyList<Change> changes) =>
        Acknowledge(state.Open.Write(transaction => Perform(transaction, changes)), changes);

    /// <summary>A command that throws when all its changes are made.</summary>
    public void WriteAndThrow(IReadOnlyList<Change> changes)
    {
        try
        {
            state.Open.Write<bool>(transaction =>
            {
                Model.Apply(transaction, changes);
                throw new FormatException("on purpose");
            });
        }
        catch (FormatException)
        {
            return;
        }

        throw new TortureFailure("A command that threw was reported as done.");
    }

    /// <summary>Several commands in one batch.</summary>
    public void Merge(IReadOnlyList<IReadOnlyList<Change>> commands, IScheduler scheduler)
    {
        var tasks = new List<Task<long>>();
        StorageEnvironment environment = state.Open;
        environment.Commits.RunExclusive(() =>
        {
            foreach (IReadOnlyList<Change> changes in commands)
                tasks.Add(environment.WriteAsync(transaction => Perform(transaction, changes)).AsTask());
        });
        var monitor = new object();
        lock (monitor)
        {
            while (!tasks.TrueForAll(task => task.IsCompleted))
                scheduler.Wait(monitor);
        }

        for (int i = 0; i < tasks.Count; i++)
        {
            try
            {
                Acknowledge(tasks[i].GetAwaiter().GetResult(), commands[i]);
            }
            catch (FormatException) when (commands[i].Any(change => change.Kind == ChangeKind.GiveUp))
            {
                // Undone alone; the others proceed.
            }
        }
    }

    /// <summary>
    /// Spans that were read stay as they are, whatever is written, checkpointed and given free meanwhile, for as long as the
    /// transaction is open.
    /// </summary>
    public void Look(IReadOnlyList<Step> meanwhile, Action<Step> run)
    {
        using ReadTransaction read = state.Open.BeginRead();
        var places = new List<(Tree Tree, byte[] Key)>();
        foreach (string name in read.TreeNames)
        {
            Tree tree = read.FindTree(name)!; // it is among the names
            long stride = Math.Max(1, tree.Count / SpansOfTree), number = 0;
            using Cursor cursor = tree.OpenCursor();
            for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext(), number++)
                if (number % stride == 0 || number == tree.Count - 1)
                    places.Add((tree, cursor.Key.ToArray()));
        }

        Hold(places, 0, meanwhile, run);
    }

    /// <summary>Holds the span of one place and goes on to the next; with all of them held the steps run.</summary>
    private void Hold(List<(Tree Tree, byte[] Key)> places, int at, IReadOnlyList<Step> meanwhile, Action<Step> run)
    {
        if (at == places.Count)
        {
            _ = RunMeanwhile(meanwhile, run);
            return;
        }

        places[at].Tree.TryGet(places[at].Key, out ReadOnlySpan<byte> value);
        byte[] before = value.ToArray();
        Hold(places, at + 1, meanwhile, run);
        if (!value.SequenceEqual(before))
            throw new TortureFailure($"The bytes of a value of {places[at].Tree.Name} changed while its transaction was open.");
    }

    /// <summary>
    /// An optimistic session that reads and writes the keys of its changes while others write; it is refused where one of them
    /// changed what it read, and by the only client nowhere else.
    /// </summary>
    public void RunSession(IReadOnlyList<Change> changes, IReadOnlyList<Step> meanwhile, Action<Step> run)
    {
        StorageEnvironment environment = state.Open;
        using OptimisticSession session = environment.BeginSession();
        Model seen = state.History.At(session.SnapshotId);
        foreach (Change change in changes)
        {
            SessionTree tree = session.GetTree(change.TreeName);
            byte[]? expected = seen.Find(change.TreeName, Change.KeyOf(change.Key));
            if (tree.TryGet(Change.KeyOf(change.Key), out ReadOnlySpan<byte> value) != expected is not null
                || !value.SequenceEqual(expected))
                throw new TortureFailure(
                    $"A session does not read {change.TreeName}[{change.Key}] as transaction {session.SnapshotId} left it.");
        }

        if (!RunMeanwhile(meanwhile, run))
            return;

        foreach (Change change in changes)
        {
            if (change.Kind == ChangeKind.Delete)
                session.GetTree(change.TreeName).Delete(Change.KeyOf(change.Key));
            else
                session.GetTree(change.TreeName).Put(Change.KeyOf(change.Key), change.ValueOf(change.Key));
        }

        IReadOnlyList<Change> net = NetOf(changes);
        session.Applied = id =>
        {
            if (FindStale(changes, seen, state.History.At(id - 1)) is { } stale)
                throw new TortureFailure(
                    $"A session was committed although {stale.TreeName}[{stale.Key}], which it had read, was changed meanwhile.");
            state.History.Submit(id, net);
        };
        try
        {
            Acknowledge(session.Commit(), net);
        }
        catch (SessionConflictException)
        {
            if (state.Scenario.Clients.Count == 1
                && FindStale(changes, seen, state.History.At(environment.State.Current.TransactionId)) is null)
                throw new TortureFailure(
                    $"A session that read transaction {session.SnapshotId} was refused although nothing that it had read was "
                        + $"changed.");
        }
    }

    /// <summary>
    /// Makes the file shorter. The commits that move pages change nothing that is seen; by the only client they are the next
    /// ones, among several they come between those of the others.
    /// </summary>
    public void Shrink()
    {
        StorageEnvironment environment = state.Open;
        if (state.Scenario.Clients.Count > 1)
        {
            state.History.HasUnsubmitted = true;
            environment.Shrink();
            return;
        }

        if (CommitsNothing(environment))
        {
            environment.Shrink();
            return;
        }

        long before = environment.State.Current.TransactionId;
        for (int i = 1; i <= MostCommitsOfShrink; i++)
            state.History.Submit(before + i, []);
        environment.Shrink();
        long last = environment.State.Current.TransactionId;
        state.History.CutAfter(last);
        Acknowledge(last, changes: null);
    }

    /// <summary>
    /// Changes the user's key. Until that has come back the old one or the new one opens what is on the disk; from then on the
    /// new one alone, whichever meta page is left.
    /// </summary>
    public void ChangeKey()
    {
        IReadOnlyList<int> before = state.Keys;
        int next = before.Max() + 1;
        state.Keys = [.. before, next];
        state.Open.ChangeKey(UserKeys.Of(next));
        state.Keys = [next];
        QuietOracle.VerifyKeyIsGone(state.Disk.Image(), UserKeys.Of(before[0]));
    }

    /// <summary>
    /// Rotates the data key, which moves every page by commits of its own, as <see cref="Shrink"/> does.
    /// </summary>
    public void RotateDataKey(int cancelAfter)
    {
        StorageEnvironment environment = state.Open;
        long before = environment.State.Current.TransactionId;
        bool isAlone = state.Scenario.Clients.Count == 1, isFollowed = isAlone && !CommitsNothing(environment);
        if (!isAlone)
            state.History.HasUnsubmitted = true;
        for (int i = 1; i <= MostCommitsOfShrink && isFollowed; i++)
            state.History.Submit(before + i, []);

        using var cancellation = new CancellationTokenSource();
        try
        {
            int parity = environment.Cipher!.Keys.Parity; // it is encrypted
            bool isNew = !environment.Cipher.Keys.HasBoth;
            KeyRotationReport report = environment.RotateDataKey(
                UserKeys.Of(state.Keys[0]), new StepsUntil(cancelAfter, cancellation), cancellation.Token);
            if (report.IsComplete && (environment.Cipher.Keys.HasBoth || (isNew && environment.Cipher.Keys.Parity == parity)))
                throw new TortureFailure("The data key was rotated, but the old one is kept, or is still in use.");
            if (report.IsComplete
                && !state.Scenario.HasThreads
                && environment.State.Readers
                    .Describe()
                    .Any(reader => reader.TransactionId < environment.State.Current.TransactionId))
                throw new TortureFailure("The old data key was dropped although a reader sees pages that are sealed with it.");
            if (report.IsComplete)
                QuietOracle.VerifyDataKeyIsGone(state.Disk.Image());
            else if (!state.Scenario.HasThreads
                && !state.IsFaulty
                && state.Scenario.CapacityBytes == long.MaxValue
                && report.Holders.Any(holder => holder.StartsWith("Pages that were being written", StringComparison.Ordinal)))
                throw new TortureFailure("The data key was rotated, nobody else was at work, and pages of the old one are left.");
        }
        catch (OperationCanceledException) when (cancelAfter > 0)
        {
            // It goes on from there some time.
        }

        if (!isFollowed)
            return;

        long last = environment.State.Current.TransactionId;
        state.History.CutAfter(last);
        Acknowledge(last, changes: null);
    }

    public void Checkpoint()
    {
        long before = state.Open.State.Current.TransactionId;
        state.Open.Checkpoint();
        state.Acknowledged = Math.Max(state.Acknowledged, before);
    }

    /// <summary>
    /// Whether its journal has failed: then nothing is committed any more, and the next number stays with the commit of which
    /// nobody knows whether it is on the disk.
    /// </summary>
    private static bool CommitsNothing(StorageEnvironment environment) => environment.State.Failure is not null;

    /// <summary>A change of what a session had read that others have changed since, or null.</summary>
    private static Change? FindStale(IReadOnlyList<Change> changes, Model seen, Model now) => changes.FirstOrDefault(change =>
    {
        byte[] key = Change.KeyOf(change.Key);
        byte[]? before = seen.Find(change.TreeName, key), after = now.Find(change.TreeName, key);
        return before is null != after is null || !before.AsSpan().SequenceEqual(after);
    });

    /// <summary>What a session makes of its writes: the last one of each key, and no tree for a delete alone.</summary>
    private static IReadOnlyList<Change> NetOf(IReadOnlyList<Change> changes)
    {
        var net = new Dictionary<(int Tree, int Key), Change>();
        foreach (Change change in changes)
            net[(change.Tree, change.Key)] = change.Kind == ChangeKind.Delete
                ? change with { Kind = ChangeKind.DeleteIfThere }
                : change;
        return [.. net.Values];
    }

    /// <summary>Runs other steps; false where they ended with the environment.</summary>
    private bool RunMeanwhile(IReadOnlyList<Step> meanwhile, Action<Step> run)
    {
        StorageEnvironment environment = state.Open;
        foreach (Step step in meanwhile)
        {
            run(step);
            if (state.Disk.HasCrashed || state.Environment != environment)
                return false; // the power failed, and it may be back
        }

        return true;
    }

    /// <summary>In the engine, as one of its commands.</summary>
    private long Perform(WriteTransaction transaction, IReadOnlyList<Change> changes)
    {
        // What the command reads before it writes stays as it is while others have their turn: sweeps of decrypted pages wait for
        // it.
        ReadOnlySpan<byte> held = FirstValue(transaction, changes);
        byte[] before = held.ToArray();
        YieldInCommand?.Invoke();
        if (!held.SequenceEqual(before))
            throw new TortureFailure("The bytes of a value changed under the command that was reading them.");

        Model.Apply(transaction, changes);
        state.History.Submit(transaction.TransactionId, changes);
        return transaction.TransactionId;
    }

    private static ReadOnlySpan<byte> FirstValue(WriteTransaction transaction, IReadOnlyList<Change> changes)
    {
        if (changes.Count == 0 || transaction.FindTree(changes[0].TreeName) is not { } tree)
            return default;

        using Cursor cursor = tree.OpenCursor();
        return cursor.MoveLast() ? cursor.Value : default;
    }

    private void Acknowledge(long id, IReadOnlyList<Change>? changes)
    {
        // A batch that changes nothing is no transaction; its number may be another one's by now.
        long published = state.Open.State.Current.TransactionId;
        if (id > published
            && published >= state.History.First
            && (changes is null || state.History.IsOf(id, changes))
            && !state.History.At(id).HasSame(state.History.At(published)))
            throw new TortureFailure($"Transaction {id} was acknowledged, but {published} is the last one published.");
        if (state.Scenario.Options.Durability == Durability.Durable && published > state.Recovered)
            state.Acknowledged = Math.Max(state.Acknowledged, Math.Min(id, published));
    }

    /// <summary>Cancels after so many steps; never for 0.</summary>
    private sealed class StepsUntil(int steps, CancellationTokenSource cancellation) : IProgress<KeyRotationProgress>
    {
        private int _left = steps;

        public void Report(KeyRotationProgress value)
        {
            if (_left > 0 && --_left == 0)
                cancellation.Cancel();
        }
    }
}
