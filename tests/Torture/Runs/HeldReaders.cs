using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Torture.Runs;

/// <summary>Readers that stay open, and the verification of what every reader must see.</summary>
internal sealed class HeldReaders(RunState state)
{
    private const int Places = 4;

    private readonly ReadTransaction?[] _readers = new ReadTransaction?[Places];

    /// <summary>Opens a reader in a slot and closes the previous one.</summary>
    public void Hold(int place)
    {
        LetGo(place);
        _readers[place % Places] = state.Open.BeginRead();
    }

    /// <summary>Verifies all readers and closes the one in a slot.</summary>
    public void LetGo(int place)
    {
        Verify();
        _readers[place % Places]?.Dispose();
        _readers[place % Places] = null;
    }

    /// <summary>Releases the pages read by the reader in a slot; its snapshot stays open.</summary>
    public void Release(int place) => _readers[place % Places]?.ReleasePages();

    public void Close()
    {
        for (int place = 0; place < Places; place++)
        {
            _readers[place]?.Dispose();
            _readers[place] = null;
        }
    }

    /// <summary>Verifies that each reader still sees its snapshot.</summary>
    public void Verify()
    {
        foreach (ReadTransaction? reader in _readers)
            if (reader is not null)
                Verify(reader, "in a reader that was held");
    }

    /// <summary>
    /// Verifies that a new reader sees its transaction, that named snapshots have their content, and that held readers see
    /// their snapshots.
    /// </summary>
    public void VerifyNow(string when)
    {
        StorageEnvironment environment = state.Open;
        using ReadTransaction read = environment.BeginRead();
        Verify(read, when, environment);
        Verify();
    }

    private void Verify(ReadTransaction read, string when, StorageEnvironment? environment = null)
    {
        if (!state.History.Covers(read.TransactionId))
            throw new TortureFailure(
                $"Transaction {read.TransactionId} is seen {when}, the last one submitted is {state.History.Last}.");
        if (read.TransactionId < state.History.First)
            return; // before the last crash: its model no longer exists

        try
        {
            if (state.History.At(read.TransactionId).Difference(read, environment) is { } difference)
                throw new TortureFailure($"Transaction {read.TransactionId} is not as it was {when}: {difference}.");
        }
        catch (CorruptionException) when (state.IsFaulty)
        {
            // The disk is not readable, and the error is reported.
        }
    }
}
