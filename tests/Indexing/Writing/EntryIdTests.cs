using Treepie.Indexing.Queries;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>Indexes whose entries have had so many predecessors that ids pass the largest number of some bits.</summary>
public sealed class EntryIdTests
{
    [Theory]
    [InlineData(12)]
    [InlineData(16)]
    [InlineData(24)]
    [InlineData(31)]
    [InlineData(32)]
    [InlineData(44)]
    public void Queries_answer_as_a_scan_does_where_ids_pass_a_power_of_two(int bits)
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema, firstId: (1L << bits) - 60);
        for (int round = 0; round < 4; round++)
        {
            fixture.ChangeRandomly(random, data, changes: 50, keys: 60);
            fixture.Commit();
            if (round == 2)
                fixture.Reopen();
            for (int i = 0; i < 40; i++)
                fixture.Check(data.Request());
        }

        fixture.CheckScores(new FullTextQuery("text", "w1 w2 w30 zebra", All: false), 10);
        fixture.CheckStorage();
    }
}
