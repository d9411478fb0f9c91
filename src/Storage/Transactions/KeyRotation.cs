using Treepie.Storage.Encryption;
using Treepie.Storage.Format;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>Changes the keys of an environment while it is in use. One change at a time.</summary>
/// <remarks>
/// The order of steps makes it safe to be killed at any point. User key: two checkpoints write the newly wrapped key block to
/// both meta pages; the newest one opens. Data key: 1. the block with both data keys is made durable in both meta pages
/// before anything is encrypted with the new one, even if an earlier run failed to do so; 2. the new key becomes the current
/// one; 3. every page encrypted with the old key is rewritten by ordinary commits; 4. once checkpoints after that are
/// durable, no reader or named snapshot sees older pages, and a walk finds none, the block without the old key is made
/// durable in both meta pages.
/// </remarks>
internal sealed class KeyRotation(
    ITransactionSource environment, StoreCipher cipher, CommitQueue commits, CheckpointRunner checkpoints, Gate gate,
    Action dropSupersededJournal)
{
    private const int PagesPerRelease = 256;

    private EnvironmentState State => environment.State;

    public void ChangeKey(EncryptionKey next, CancellationToken cancellationToken)
    {
        gate.Enter(cancellationToken);
        try
        {
            KeyBlock before = cipher.Block, after = cipher.Keys.Wrap(next, cipher.Random, cipher.Observer);
            commits.RunExclusive(() => cipher.Block = after);
            try
            {
                checkpoints.RunForced(cancellationToken);
            }
            catch (Exception error)
            {
                commits.RunExclusive(() => cipher.Block = before); // written again by the next checkpoint, or on closing
                if (error is OperationCanceledException)
                    checkpoints.RunForcedToEnd(); // another checkpoint may have written the new block meanwhile
                throw;
            }

            OverwriteOlder();
        }
        finally
        {
            gate.Leave();
        }
    }

    public KeyRotationReport RotateDataKey(
        EncryptionKey key, IProgress<KeyRotationProgress>? progress, CancellationToken cancellationToken)
    {
        gate.Enter(cancellationToken);
        try
        {
            if (!cipher.IsKey(key))
                throw new EncryptionKeyException(
                    "The key that was given is not the one that this environment is opened with. Nothing was changed.");

            if (!cipher.Keys.HasBoth)
                Use(cipher.Keys.WithNext(cipher.Random), key);
            if (!cipher.Keys.IsSwitched)
            {
                Persist(); // that both keys are in memory does not mean that they are on disk
                Use(cipher.Keys.Switched(), key);
                Persist();
            }

            return Finish(key, progress, cancellationToken);
        }
        finally
        {
            gate.Leave();
        }
    }

    private KeyRotationReport Finish(
        EncryptionKey key, IProgress<KeyRotationProgress>? progress, CancellationToken cancellationToken)
    {
        long total = State.Space.LivePages, written = 0;
        if (HasOldPages(cancellationToken))
        {
            PageRelocation? relocation = null;
            // Assigned by the time the callback runs.
            relocation = new PageRelocation(
                environment, () => progress?.Report(new KeyRotationProgress(relocation!.Moved, total)), cancellationToken);
            relocation.Run(new MoveChoice(0, State.Current.TransactionId));
            written = relocation.Moved;
        }

        Persist();
        long newest = State.Current.TransactionId;
        List<string> holders = FindHolders(newest);
        if (holders.Count == 0 && HasOldPages(cancellationToken))
            holders.Add("Pages that were being written are still sealed with the old data key. Run it again.");
        if (holders.Count > 0)
            return new KeyRotationReport(written, false, holders);

        Use(cipher.Keys.WithoutPrevious(), key);
        Persist();
        return new KeyRotationReport(written, true, []);
    }

    /// <summary>Switches to the given keys, in memory only.</summary>
    private void Use(DataKeys keys, EncryptionKey key)
    {
        KeyBlock block = keys.Wrap(key, cipher.Random, cipher.Observer);
        commits.RunExclusive(() => cipher.Use(keys, block));
    }

    /// <summary>
    /// Makes the keys durable in both meta pages, and supersedes the journal frames that a recovery would have read.
    /// </summary>
    private void Persist()
    {
        checkpoints.RunForcedToEnd(); // short, and must not be left half done
        OverwriteOlder();
    }

    /// <summary>
    /// Called when the newest meta page has the keys in force: overwrites the other one, and drops journal files with older
    /// keys.
    /// </summary>
    private void OverwriteOlder()
    {
        try
        {
            checkpoints.RunForcedToEnd();
            dropSupersededJournal();
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            throw new StorageException(
                $"The keys were changed, and the new ones are in force; but what the ones before open is still in the older meta "
                    + $"page or in a journal file of '{environment.State.Store.Path}', until a checkpoint and another change of "
                    + $"keys succeed: {error.Message}", error);
        }
    }

    private bool HasOldPages(CancellationToken cancellationToken)
    {
        using ReadTransaction read = environment.BeginRead("look for pages of the old data key");
        ulong current = (ulong)cipher.Keys.Parity;
        bool isAny = false;
        long visited = 0;
        var walk = new RootWalk(
            State.Store,
            run =>
            {
                if (++visited % PagesPerRelease == 0)
                    read.ReleasePages();
                ulong incarnation = State.Store.IncarnationOf(run.First);
                isAny |= incarnation != 0 && (incarnation & 1) != current;
                return !isAny;
            },
            cancellationToken);
        walk.Catalogue(read.Snapshot.Catalogue);
        walk.Tree(read.Snapshot.System);
        return isAny;
    }

    private List<string> FindHolders(long newest)
    {
        var holders = new List<string>();
        if (State.Current.Named.All.Count > 0 || State.Current.Named.Dropped.Count > 0)
            holders.Add(
                $"{State.Current.Named.All.Count} named snapshots keep pages that are sealed with the old data key and cannot be "
                    + $"written again. Drop those from before the rotation, and run it again.");
        foreach (ReaderInfo reader in State.Readers.Describe())
            if (reader.TransactionId < newest)
                holders.Add(
                    $"An open read{(reader.Name is null ? "" : $", '{reader.Name}',")} sees transaction {reader.TransactionId} "
                        + $"and is {reader.Age.TotalSeconds:f0} s old. End it, and run it again.");
        return holders;
    }
}
