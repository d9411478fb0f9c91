using Treepie.Storage;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Torture.Models;

namespace Treepie.Torture.Runs;

/// <content>What must hold after each step, and at the end.</content>
internal sealed partial class SimulatedRun
{
    private void VerifyEnd()
    {
        if (_disk.HasCrashed)
            _disk.Restart(new PowerLoss(_disk).Draw(_draw, withDamage: true).Build());
        VerifyClosed();
    }

    /// <summary>The closed environment, opened on a copy of the disk, holds what it must.</summary>
    private void VerifyClosed()
    {
        QuietOracle.VerifySalts(_disk.Image());
        new CrashVerifier(_scenario, new Tally()).Verify(new PowerLoss(_disk).None().Build(), _history, _acknowledged, isThorough: false);
    }

    private void VerifyNow(string when)
    {
        if (_environment is not null && (_threads is null || !_disk.HasCrashed))
        {
            using ReadTransaction read = _environment.BeginRead();
            Verify(read, when);
            VerifyReaders();
        }
    }

    private void VerifyReaders()
    {
        foreach (ReadTransaction? reader in _readers)
            if (reader is not null)
                Verify(reader, "in a reader that was held");
    }

    private void Verify(ReadTransaction read, string when)
    {
        if (read.TransactionId > _history.Last || read.TransactionId < _history.First)
        {
            if (read.TransactionId > _history.Last)
                throw new TortureFailure($"Transaction {read.TransactionId} is seen {when}, the last one submitted is {_history.Last}.");
            return; // older than the last crash: its model is gone
        }

        try
        {
            if (_history.At(read.TransactionId).Difference(read) is { } difference)
                throw new TortureFailure($"Transaction {read.TransactionId} is not as it was {when}: {difference}.");
        }
        catch (CorruptionException) when (_isFaulty)
        {
            // The disk cannot be read; that is said, not guessed.
        }
    }

    private void VerifySpace()
    {
        StorageEnvironment environment = _environment!; // the caller has looked
        if (_disk.HasCrashed || _isCrashDue || environment.State.Failure is not null)
            return;

        CloseReaders();

        // A change in each, since a checkpoint with nothing new is none; the second lets go of what the first still held.
        for (int i = 0; i < 2; i++)
        {
            Write([new Change(ChangeKind.Put, 2, Key: 0, Length: 10, Version: i)]);
            ThrowIfBroken();
            Checkpoint();
            ThrowIfBroken();
        }

        QuietOracle.VerifySpace(environment);
    }

    private void CloseReaders()
    {
        for (int i = 0; i < _readers.Length; i++)
        {
            _readers[i]?.Dispose();
            _readers[i] = null;
        }
    }

    private void ThrowIfBroken()
    {
        if (_explorer.Failure is { } failure)
            throw failure;
    }
}
