using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;
using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Real;

/// <summary>Real threads on the real disk; see <see cref="RealClients"/>. Its pieces are not repeatable to the step: the machine interleaves them.</summary>
internal sealed class ThreadsMode : IMode
{
    public const string ModeName = "threads";

    private const int Rounds = 3;
    private const int BatchesOfRound = 250;

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public void Run(long piece, Tally tally)
    {
        using var directory = new TemporaryDirectory();
        var acknowledged = new long[RealClients.Writers];
        for (int round = 0; round < Rounds; round++)
        {
            using StorageEnvironment environment = StorageEnvironment.Open(directory.Path, RealClients.Options);
            new RealClients(environment, unchecked((int)piece + round)) { Acknowledging = (writer, batch) => acknowledged[writer] = batch }.Run(BatchesOfRound);
            QuietOracle.VerifyCheck(environment);
            using ReadTransaction read = environment.BeginRead();
            RealClients.Verify(read, acknowledged);
        }
    }
}
