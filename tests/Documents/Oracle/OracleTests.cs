using System.Globalization;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Oracle;

/// <summary>
/// Random queries over random documents against a scan that knows nothing of the engine: mixed kinds, texts longer than the index
/// keeps in its dictionaries, all of Unicode's planes, arrays of objects; while documents change, fields are added, indexes are
/// reset, deleted, lost and defined anew, and the database ends in between, also while its indexes are at work, in order, by a
/// kill or a loss of power. <c>TREEPIE_QUERIES</c> says how many queries.
/// </summary>
public sealed class OracleTests
{
    private const int DefaultQueries = 100_000;

    private static readonly int _queries = int.TryParse(
        Environment.GetEnvironmentVariable("TREEPIE_QUERIES"), CultureInfo.InvariantCulture, out int queries)
        ? queries
        : DefaultQueries;

    [Fact]
    public async Task Random_queries_find_what_a_scan_finds()
    {
        var random = new Random(Seed.Next());
        for (int asked = 0; asked < _queries / 2;)
        {
            using var place = new TemporaryPlace();
            asked += await RunAsync(random, new OracleRun(random, () => Database.Open(place.Path)));
        }
    }

    [Fact]
    public async Task Random_queries_find_what_a_scan_finds_after_losses_of_power()
    {
        int seed = Seed.Next(), crashes = 0;
        var random = new Random(seed);
        for (int asked = 0; asked < (_queries + 1) / 2;)
        {
            using var machine = new CrashingMachine(random.Next());
            asked += await RunAsync(random, new OracleRun(random, machine.Open, machine));
            crashes += machine.Crashes;
        }

        Assert.True(crashes > 0, $"seed {seed}: the power failed only while nothing was written");
    }

    /// <summary>Runs a round over a new database and returns how many queries it ran.</summary>
    private static async Task<int> RunAsync(Random random, OracleRun run)
    {
        await using (run)
            await run.RunAsync(states: random.Next(8, 25), queriesOfState: 100);
        return run.Asked;
    }
}
