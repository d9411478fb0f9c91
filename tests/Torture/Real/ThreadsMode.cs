using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;
using Treepie.Torture.Modes;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Real;

/// <summary>
/// Real threads on a real disk; see <see cref="RealClients"/>. Pieces are not exactly repeatable, because the machine
/// interleaves the threads.
/// </summary>
internal sealed class ThreadsMode : IMode
{
    public const string ModeName = "threads";

    private const int Rounds = 3;
    private const int BatchesOfRound = 250;

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => piece % 2 == 1;

    public void Run(long piece, Tally tally)
    {
        using var directory = new TemporaryDirectory();
        var acknowledged = new long[RealClients.Writers];
        bool isEncrypted = IsEncrypted(piece);
        int key = 0;
        var seals = new NonceRecorder();
        World world = World.OfDisk(directory.Path) with { Seals = isEncrypted ? seals.Observer : null };
        for (int round = 0; round < Rounds; round++)
        {
            using StorageEnvironment environment = StorageEnvironment.Open(
                world, RealClients.Options with { EncryptionKey = isEncrypted ? UserKeys.Of(key) : null });
            var clients = new RealClients(environment, unchecked((int)piece + round))
            {
                Acknowledging = (writer, batch) => acknowledged[writer] = batch,
                ChangesKeys = true,
                Key = key
            };
            clients.Run(BatchesOfRound);
            key = clients.Key;
            if (seals.Failure is { } repeated)
                throw new TortureFailure($"(encrypted) {repeated}");
            QuietOracle.VerifyCheck(environment);
            using ReadTransaction read = environment.BeginRead();
            RealClients.Verify(read, acknowledged);
        }

        tally.AddSeals(seals.Seals);
    }
}
