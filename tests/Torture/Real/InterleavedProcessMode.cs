using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Real;

/// <summary>
/// Logical threads that are interrupted at interlocked and volatile operations and at locks, in the program of tests/Mutants,
/// whose engine is compiled for that; no mutant is on. A piece is several runs, since a process takes a while to start.
/// </summary>
internal sealed class InterleavedProcessMode : IMode
{
    public const string ModeName = "interleavings";

    private const int RunsPerPiece = 20;

    private readonly Lazy<MutantHunt> _program = new(() => new MutantHunt(static _ => { }));

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => true; // one run in four

    public void Run(long piece, Tally tally)
    {
        if (_program.Value.RunUnchanged(ModeName, piece * RunsPerPiece, RunsPerPiece) is { } failure)
            throw new TortureFailure(failure, []);
    }
}
