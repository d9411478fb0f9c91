using Treepie.Storage.Simulation;
using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Mutants.Interleavings;

/// <summary>
/// Threads of the engine that are interrupted at interlocked and volatile operations and at locks, in an order that the seed
/// determines, as FoundationDB's simulation and Microsoft's Coyote do. One piece in four is about maps in memory, one about
/// closing an environment, the others about an environment at work.
/// </summary>
internal sealed class InterleavingsMode : IMode
{
    public const string ModeName = "interleavings";

    private static readonly int[] _stepsPerInterruption = [10, 40, 160];

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => IsClosing(piece) ? piece / 4 % 3 == 2 : piece % 4 == 1;

    public void Run(long piece, Tally tally)
    {
        int seed = unchecked((int)piece);
        var random = new Random(seed);
        int steps = _stepsPerInterruption[random.Next(_stepsPerInterruption.Length)];
        using var threads = new SimulatedScheduler(new Random(unchecked(seed + 1))) { StepsPerInterruption = steps };
        try
        {
            if (IsClosing(piece))
                new ClosingRun(unchecked((int)(piece / 4)), IsEncrypted(piece), steps).Run();
            else if (piece % 4 == 0)
                new MapRun(random, threads).Run();
            else
                new EnvironmentRun(seed, threads, IsEncrypted(piece)).Run();
        }
        catch (Exception error)
        {
            Exception cause = error is InvalidOperationException or TimeoutException ? error.InnerException ?? error : error;
            throw new TortureFailure($"{cause.GetType().Name}: {cause.Message}", error.ToString().Split('\n'), error);
        }
    }

    private static bool IsClosing(long piece) => piece % 4 == 2;
}
