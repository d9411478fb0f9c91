using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Store;

/// <summary>Real documents, all of them: what was given is what is there, before and after reopening.</summary>
public sealed class DataSetTests
{
    [Theory]
    [InlineData("movies.ndjson.gz", "Movies")]
    [InlineData("cities.ndjson.gz", "Cities")]
    public async Task A_whole_data_set_is_stored_and_read_back(string file, string collection)
    {
        List<string> lines = [.. DataSets.Lines(DataSets.PathOf(file))];
        using var directory = new TemporaryDirectory();
        await using (Database database = Database.Open(directory.Path))
        {
            await using BulkInsert bulk = database.BulkInsert();
            for (int index = 0; index < lines.Count; index++)
            {
                string json = $"{lines[index][..^1]},\"@metadata\":{{\"@collection\":\"{collection}\"}}}}";
                await bulk.StoreAsync(
                    $"{collection}/{index}", Encoding.UTF8.GetBytes(json), TestContext.Current.CancellationToken);
            }

            Assert.Equal(lines.Count, (await bulk.CompleteAsync(TestContext.Current.CancellationToken)).Documents);
        }

        await using Database again = Database.Open(directory.Path);
        using DatabaseSnapshot snapshot = again.BeginRead();
        CollectionStatistics statistics = Assert.Single(snapshot.Collections());
        Assert.Equal((collection, lines.Count, lines.Count), (statistics.Name, statistics.DocumentCount, statistics.LastEtag));
        using DocumentCursor cursor = snapshot.ByCollection(collection);
        long bytes = 0;
        for (int index = 0; cursor.MoveNext(); index++)
        {
            Document document = cursor.Current;
            bytes += document.Body.Length;
            Assert.Equal($"{collection}/{index}", document.IdText());
            Assert.Equal(
                JsonSerializer.Serialize(JsonNode.Parse(lines[index])), JsonSerializer.Serialize(JsonNode.Parse(document.Body)));
        }

        Assert.Equal(statistics.SizeBytes, bytes);
    }
}
