namespace Treepie.Storage.Transactions;

/// <summary>What the lane owes to the rest of the environment between batches: marks, limits, checkpoints.</summary>
internal sealed class LaneDuties(EnvironmentState state, Writer writer)
{
    /// <summary>Who writes checkpoints; set before the first command.</summary>
    public CheckpointRunner? Checkpoints { get; set; }

    /// <summary>Whether something must run before the next batch that bears no frame in flight. Holding the lane.</summary>
    public bool AreDue => writer.HasRetries || (Checkpoints?.HasDuties ?? false);

    /// <summary>Runs it. Holding the lane, with nothing open and nothing in flight.</summary>
    public void Run()
    {
        try
        {
            Checkpoints?.RunDuties();
            if (writer.HasRetries)
                Checkpoints?.RunHoldingLane();
        }
        catch (Exception error)
        {
            state.Failure ??= error; // nothing is known about the state any more
        }
    }

    /// <summary>Each time the lane is held with nothing open and nothing in flight.</summary>
    public void AtRest() => Checkpoints?.RunDueInLine();

    /// <summary>
    /// After each batch, by any thread. Never throws: what cannot be begun now is asked for again after the next batch.
    /// </summary>
    public void AfterBatch()
    {
        try
        {
            Checkpoints?.AfterBatch();
        }
        catch (Exception)
        {
            // See above.
        }
    }
}
