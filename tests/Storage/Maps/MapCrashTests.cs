using Treepie.Storage.Maps;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Maps;

/// <summary>
/// Maps on a disk that loses power. After each crash, the content is that of a prefix of the commits with all acknowledged
/// ones, and the check is clean.
/// </summary>
public sealed class MapCrashTests
{
    private const int Runs = 12;
    private const int CrashesPerRun = 5;

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void After_a_crash_maps_are_as_some_commit_left_them_and_no_acknowledged_one_is_missing(Durability durability) =>
        SmallDisk.Repeat(Runs, seed =>
        {
            var random = new Random(seed);
            var empty = new MapModel<string, string, StringSerializer, StringSerializer>(
                "m", draw => TransactionMapTests.Text(draw.Next(700)),
                draw => new string('v', draw.Next(30) == 0 ? draw.Next(9000) : draw.Next(80)));
            var run = new CrashRun<MapModel<string, string, StringSerializer, StringSerializer>>(
                random, SmallDisk.Options with { Durability = durability }, empty, IsEqual);
            run.Run(CrashesPerRun, operations: 60, environment =>
            {
                MapModel<string, string, StringSerializer, StringSerializer> before = run.Last, next = before.Copy();
                int changes = random.Next(), steps = random.Next(1, 200);
                next.Apply(changes, steps, null);
                run.Do(next, () => environment.Write(transaction =>
                {
                    before.Apply(changes, steps, transaction, changesModel: false);
                    return true;
                }));
            });
        });

    private static bool IsEqual(
        MapModel<string, string, StringSerializer, StringSerializer> model, StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        return model.IsEqual(read);
    }
}
