using Treepie.Storage.Simulation;

namespace Treepie.Mutants.Steps;

/// <summary>
/// Cancelling is one step: whoever ends a registration waits for a callback that runs, and does so past the scheduler.
/// </summary>
internal static class SteppedCancellation
{
    public static void CancelInOneStep(this CancellationTokenSource source) => SimulatedScheduler.RunUninterrupted(source.Cancel);
}
