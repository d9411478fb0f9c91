using Treepie.Storage.Simulation;
using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Mutants.Interleavings;

/// <summary>
/// Threads of the engine that are interrupted at interlocked and volatile operations and at locks, in an order that the seed
/// determines, as FoundationDB's simulation and Microsoft's Coyote do. One piece in four is about maps in memory, the others
/// about an environment.
/// </summary>
internal sealed class InterleavingsMode : IMode
{
    public const string ModeName = "interleavings";

    private static readonly int[] _stepsPerInterruption = [10, 40, 160];

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => piece % 4 == 1;

    public void Run(long piece, Tally tally)
    {
        int seed = unchecked((int)piece);
        var random = new Random(seed);
        using var threads = new SimulatedScheduler(new Random(unchecked(seed + 1)))
        {
            StepsPerInterruption = _stepsPerInterruption[random.Next(_stepsPerInterruption.Length)],
        };
        try
        {
            if (piece % 4 == 0)
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
}
