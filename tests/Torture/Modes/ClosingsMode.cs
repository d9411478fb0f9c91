using Treepie.Storage.Simulation;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>Closes environments while operations are in progress; see <see cref="ClosingRun"/>.</summary>
internal sealed class ClosingsMode : IMode
{
    public const string ModeName = "closings";

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => piece % 3 == 2;

    public void Run(long piece, Tally tally)
    {
        try
        {
            new ClosingRun(unchecked((int)piece), IsEncrypted(piece)).Run();
        }
        catch (Exception error)
        {
            throw new TortureFailure(error.Message, error.ToString().Split('\n'), error);
        }
    }
}
