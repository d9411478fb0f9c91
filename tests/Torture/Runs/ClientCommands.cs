using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Sessions;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <summary>Executes the commands of clients, and records what was submitted and acknowledged.</summary>
internal sealed class ClientCommands(RunState state)
{
    /// <summary>More commits than a shrink of these small files makes itself.</summary>
    private const int MostCommitsOfShrink = 400;

    /// <summary>
    /// Number of spans held of each tree, spread from its first to its last key: one in each page of a small tree.
    /// </summary>
    private const int SpansOfTree = 12;

    /// <summary>Lets other threads run in the middle of a command; may be null.</summary>
    public Action? YieldInCommand { get; init; }

    public void Write(IReadOnlyList<Change> changes) =>
        Acknowledge(state.Open.Write(transaction => Perform(transaction, changes)), changes);

    /// <summary>Runs a command that throws after making all its changes.</summary>
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

    /// <summary>Runs several commands in one batch.</summary>
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
                // Only this command is undone; the others proceed.
            }
        }
    }

    /// <summary>
    /// Verifies that spans read stay unchanged while the transaction is open, whatever is written, checkpointed and freed
    /// meanwhile.
    /// </summary>
    public void Look(IReadOnlyList<Step> meanwhile, Action<Step> run)
    {
        using ReadTransaction read = state.Open.BeginRead();
        var places = new List<(Tree Tree, byte[] Key)>();
        foreach (string name in read.TreeNames)
        {
            Tree tree = read.FindTree(name)!; // it was just listed
            long stride = Math.Max(1, tree.Count / SpansOfTree), number = 0;
            using Cursor cursor = tree.OpenCursor();
            for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext(), number++)
                if (number % stride == 0 || number == tree.Count - 1)
                    places.Add((tree, cursor.Key.ToArray()));
        }

        Hold(places, 0, meanwhile, run);
    }

    /// <summary>Holds the span of one position and continues with the next. When all are held, runs the steps.</summary>
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
    /// Runs an optimistic session that reads and writes keys while others write. It must be refused if another client
    /// changed what it read; with a single client, only then.
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
    /// Shrinks the file. The commits that move pages do not change visible content. With a single client they get the next
    /// transaction numbers; with several, they come between the commits of others.
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
    /// Changes the user key. Until the call returns, the old or the new key opens the disk; afterwards only the new one,
    /// whichever meta page is left.
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
    /// Rotates the data key, which moves every page by additional commits, as <see cref="Shrink"/> does.
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
            int parity = environment.Cipher!.Keys.Parity; // not null, because the environment is encrypted
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
            // A later rotation continues it.
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
    /// Whether the journal has failed. Then nothing is committed any more, and the next transaction number remains with the
    /// commit of which it is unknown whether it reached the disk.
    /// </summary>
    private static bool CommitsNothing(StorageEnvironment environment) => environment.State.Failure is not null;

    /// <summary>Finds a change whose key, as read by the session, has been changed by others since. Returns null if there is
    /// none.</summary>
    private static Change? FindStale(IReadOnlyList<Change> changes, Model seen, Model now) => changes.FirstOrDefault(change =>
    {
        byte[] key = Change.KeyOf(change.Key);
        byte[]? before = seen.Find(change.TreeName, key), after = now.Find(change.TreeName, key);
        return before is null != after is null || !before.AsSpan().SequenceEqual(after);
    });

    /// <summary>The net changes of a session: the last one of each key, and no creation of a tree by a deletion.</summary>
    private static IReadOnlyList<Change> NetOf(IReadOnlyList<Change> changes)
    {
        var net = new Dictionary<(int Tree, int Key), Change>();
        foreach (Change change in changes)
            net[(change.Tree, change.Key)] = change.Kind == ChangeKind.Delete
                ? change with { Kind = ChangeKind.DeleteIfThere }
                : change;
        return [.. net.Values];
    }

    /// <summary>Runs other steps. Returns false if the environment was closed by them.</summary>
    private bool RunMeanwhile(IReadOnlyList<Step> meanwhile, Action<Step> run)
    {
        StorageEnvironment environment = state.Open;
        foreach (Step step in meanwhile)
        {
            run(step);
            if (state.Disk.HasCrashed || state.Environment != environment)
                return false; // the power failed, and may be back
        }

        return true;
    }

    /// <summary>Executes a command within the engine.</summary>
    private long Perform(WriteTransaction transaction, IReadOnlyList<Change> changes)
    {
        // A value that a command reads must not change while other threads run: sweeps of decrypted pages must wait for the
        // command.
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
        // A batch that changes nothing creates no transaction; its number may belong to another one by now.
        long published = state.Open.State.Current.TransactionId;
        if (id > published
            && published >= state.History.First
            && (changes is null || state.History.IsOf(id, changes))
            && !state.History.At(id).HasSame(state.History.At(published)))
            throw new TortureFailure($"Transaction {id} was acknowledged, but {published} is the last one published.");
        if (state.Scenario.Options.Durability == Durability.Durable && published > state.Recovered)
            state.Acknowledged = Math.Max(state.Acknowledged, Math.Min(id, published));
    }

    /// <summary>Cancels after this many steps; never if 0.</summary>
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
