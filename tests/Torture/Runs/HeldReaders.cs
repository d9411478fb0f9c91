using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Torture.Runs;

/// <summary>Readers that stay open, and what every reader must see.</summary>
internal sealed class HeldReaders(RunState state)
{
    private const int Places = 4;

    private readonly ReadTransaction?[] _readers = new ReadTransaction?[Places];

    /// <summary>Opens a reader and keeps it in a place; the one that was there is closed.</summary>
    public void Hold(int place)
    {
        LetGo(place);
        _readers[place % Places] = state.Open.BeginRead();
    }

    /// <summary>Closes the one in a place, after a last look.</summary>
    public void LetGo(int place)
    {
        Verify();
        _readers[place % Places]?.Dispose();
        _readers[place % Places] = null;
    }

    /// <summary>The one in a place gives up the spans it has read; its snapshot stays.</summary>
    public void Release(int place) => _readers[place % Places]?.ReleasePages();

    public void Close()
    {
        for (int place = 0; place < Places; place++)
        {
            _readers[place]?.Dispose();
            _readers[place] = null;
        }
    }

    /// <summary>Each sees what it saw at first.</summary>
    public void Verify()
    {
        foreach (ReadTransaction? reader in _readers)
            if (reader is not null)
                Verify(reader, "in a reader that was held");
    }

    /// <summary>
    /// A reader that begins now sees its transaction, and named snapshots hold what they are of; those that are held see what
    /// they saw.
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
            return; // older than the last crash: its model is gone

        try
        {
            if (state.History.At(read.TransactionId).Difference(read, environment) is { } difference)
                throw new TortureFailure($"Transaction {read.TransactionId} is not as it was {when}: {difference}.");
        }
        catch (CorruptionException) when (state.IsFaulty)
        {
            // The disk cannot be read; that is said, not guessed.
        }
    }
}
