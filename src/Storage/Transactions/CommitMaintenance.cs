namespace Treepie.Storage.Transactions;

/// <summary>Maintenance that the leader of the commit queue does between batches: use marks, limits, checkpoints.</summary>
internal sealed class CommitMaintenance(EnvironmentState state, Writer writer)
{
    /// <summary>Writes checkpoints; set before the first command runs.</summary>
    public CheckpointRunner? Checkpoints { get; set; }

    /// <summary>Whether <see cref="Run"/> has work to do before the next batch. Must be called by the leader.</summary>
    public bool IsDue => writer.HasRetries || (Checkpoints?.IsMaintenanceDue ?? false);

    /// <summary>Runs the maintenance. Must be called by the leader, with no batch open and no frame being flushed.</summary>
    public void Run()
    {
        try
        {
            Checkpoints?.RunMaintenance();
            if (writer.HasRetries)
                Checkpoints?.RunAsLeader();
        }
        catch (Exception error)
        {
            state.Failure ??= error; // the state is unknown
        }
    }

    /// <summary>Called each time the leader has no batch open and no frame is being flushed.</summary>
    public void WhenIdle() => Checkpoints?.RunIfDueWithoutThreads();

    /// <summary>
    /// Called after each batch, on any thread. Never throws: what cannot start now is tried again after the next batch.
    /// </summary>
    public void AfterBatch()
    {
        try
        {
            Checkpoints?.AfterBatch();
        }
        catch (Exception)
        {
            // Tried again after the next batch.
        }
    }
}
