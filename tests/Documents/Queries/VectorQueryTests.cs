using System.Text.Json;
using Treepie.Indexes;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Queries;

/// <summary>Searches by vector, over documents.</summary>
public sealed class VectorQueryTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _folder = new();
    private Database _database;

    public VectorQueryTests() => _database = Database.Open(_folder.Path);

    public async ValueTask InitializeAsync()
    {
        await _database.PutAsync("books/1", """{"Title":"north","Kind":"a","V":[1,0],"Text":"red fox"}""", "Books");
        await _database.PutAsync("books/2", """{"Title":"north-east","Kind":"b","V":{"@vector":[1,1]},"Text":"red"}""", "Books");
        await _database.PutAsync("books/3", """{"Title":"east","Kind":"a","V":"AAAAAAAAgD8=","Text":"fox"}""", "Books");
        await _database.PutAsync("books/4", """{"Title":"west and south","Kind":"b","V":[[0,-1],[-1,0.5]]}""", "Books");
        await _database.PutAsync("books/5", """{"Title":"none","Kind":"b","V":null}""", "Books");
        await _database.PutAsync("books/6", """{"Title":"wrong","Kind":"b","V":[1,2,3]}""", "Books");
    }

    public ValueTask DisposeAsync()
    {
        _database.Dispose();
        _folder.Dispose();
        return ValueTask.CompletedTask;
    }

    [Theory]
    [InlineData("vector.search(V, $north)", "books/1 books/2 books/3 books/4")]
    [InlineData("vector.search(V, $base64)", "books/3 books/2 books/4 books/1")]
    [InlineData("vector.search(V, 'AAAAAAAAgD8=', 0.5)", "books/3 books/2")]
    [InlineData("vector.search(V, $wrapped, null, 2)", "books/1 books/2")]
    [InlineData("exact(vector.search(embedding.f32_i8(V), $north, 0.5, 10))", "books/1 books/2")]
    [InlineData("vector.search(embedding.f32_i1(V), $north, 0.6)", "books/1 books/2 books/3")]
    [InlineData("exact(vector.search(embedding.f32_i1(V), 'AAAAAAAAgL8=', 0.6))", "books/4")]
    [InlineData("vector.search(embedding.f32_i1(V), $north, null, 4) and Kind = 'b'", "books/2 books/4")]
    [InlineData("vector.search(embedding.f32_i1(V), embedding.forDoc('books/1'), 0.9)", "books/1 books/2 books/3")]
    [InlineData("Kind = 'b' and vector.search(V, $north, 0.1, 1)", "books/2")]
    [InlineData("vector.search(V, $north, 0.1, 1) and Kind = 'a'", "books/1")]
    [InlineData("vector.search(V, $east, 0.1, 1) or boost(Title = 'NORTH', 5)", "books/1 books/3")]
    [InlineData("boost(vector.search(V, $east, 0, 3), 10) and exists(Title)", "books/3 books/2 books/4")]
    [InlineData("vector.search(V, $several, 0.5)", "books/1 books/3 books/2")]
    [InlineData("vector.search(V, $several, 0.5, 2)", "books/1 books/3")]
    [InlineData("Kind = 'b' and vector.search(V, $several, 0.5)", "books/2")]
    [InlineData("vector.search(V, embedding.forDoc('BOOKS/3'), 0.5)", "books/3 books/2")]
    [InlineData("vector.search(V, embedding.forDoc($id), 0)", "books/4 books/3 books/1")]
    [InlineData("vector.search(V, embedding.forDoc('books/5')) or Title = 'none'", "books/5")]
    [InlineData("vector.search(V, embedding.forDoc('books/404')) or Title = 'none'", "books/5")]
    public async Task The_nearest_come_first(string condition, string ids)
    {
        Answer answer = await _database.AskAsync(
            $"from Books where {condition}",
            """{"north":[3,0],"east":[0,2],"base64":"AAAAAAAAgD8=","wrapped":{"@vector":[1,0]},"several":[[3,0],{"@vector":[0,1]}],"id":"books/4"}""");
        Assert.Equal(ids, string.Join(' ', answer.Ids));
        Assert.Contains("Vector.search(", answer.Index, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_vector_of_another_length_is_told_and_the_rest_of_its_document_is_found()
    {
        Answer answer = await _database.AskAsync("from Books where vector.search(V, $v) or Title = 'wrong'", """{"v":[1,0]}""");
        Assert.Contains("books/6", answer.Ids);
        Assert.Contains("books/6", _database.Indexes.List()[0].Error, StringComparison.Ordinal);
        Assert.Contains("'V'", _database.Indexes.List()[0].Error, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("vector.search(V, $missing)", "no value is given")]
    [InlineData("vector.search(V, $words)", "no vector")]
    [InlineData("vector.search(V, 'no base64')", "no vector")]
    [InlineData("vector.search(V, $three)", "2 numbers; this one has 3")]
    [InlineData("vector.search(V, $none)", "empty")]
    [InlineData("vector.search(V, $lengths)", "2 numbers; this one has 3")]
    [InlineData("vector.search(V, $many)", "256 vectors at once")]
    [InlineData("vector.search(V, embedding.forDoc(5))", "id of a document")]
    [InlineData("vector.search(V, $north, 'much')", "least similarity")]
    [InlineData("vector.search(V, $north, 0.5, 0)", "number of candidates")]
    [InlineData("vector.search(V)", "2 to 4 arguments")]
    [InlineData("vector.search(embedding.text(V), $north)", "needs a model")]
    [InlineData("vector.search(embedding.i1(V), $half)", "numbers from -128 to 255")]
    [InlineData("vector.search(embedding.i1(V), 'no base64!')", "base64 of bytes")]
    [InlineData("vector.search(embedding.f32_i2(V), $north)", "embedding.f32_i1 (a bit)")]
    public async Task What_is_no_search_is_refused_with_the_reason(string condition, string reason)
    {
        string many = $"[{string.Join(',', Enumerable.Repeat("[1,0]", 257))}]";
        InvalidQueryException error = await Assert.ThrowsAsync<InvalidQueryException>(() =>
            _database.AskAsync(
                $"from Books where {condition}",
                $$"""{"north":[1,0],"three":[1,2,3],"none":[],"words":["a"],"half":[0.5],"lengths":[[1,0],[1,2,3]],"many":{{many}}}"""));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Packed_bits_are_compared_bit_by_bit()
    {
        string[] bits = ["[15,255]", "\"D/8=\"", "{\"@vector\":[15,-1]}", "[15,254]", "[-16,0]", "[1.5]", "[7]"];
        for (int i = 0; i < bits.Length; i++)
            await _database.PutAsync($"packs/{i}", $"{{\"V\":{bits[i]}}}", "Packs");
        foreach ((string vector, string given) in ((string, string)[])
            [("$v", "[15,255]"), ("$v", "\"D/8=\""), ("'D/8='", "0"), ("$v", "[[15,-1]]"), ("embedding.forDoc('packs/1')", "0")])
        {
            Answer answer = await _database.AskAsync(
                $"from Packs where vector.search(embedding.i1(V), {vector}, 0.5)", $$"""{"v":{{given}}}""");
            Assert.Equal("packs/0 packs/1 packs/2 packs/3", string.Join(' ', answer.Ids)); // 15 of 16 bits, then none
            Assert.Equal(0.9375, (double)answer.Rows[3]["@metadata"]!["@index-score"]!);
        }

        string? error = _database.Indexes.List().Single(static index => index.Name.Contains("i1(V)", StringComparison.Ordinal)).Error;
        Assert.NotNull(error);
        _database.Dispose();
        _database = Database.Open(_folder.Path);
        Assert.Equal(
            4, (await _database.AskAsync("from Packs where vector.search(embedding.i1(V), 'D/8=', 0.5)")).Rows.Count);
    }

    [Theory]
    [InlineData("""{"Bits":true}""")]
    [InlineData("""{"SourceEmbeddingType":"Single","DestinationEmbeddingType":"Binary"}""")]
    public async Task A_named_index_keeps_the_signs_of_vectors(string vector)
    {
        using JsonDocument json = JsonDocument.Parse(
            """{"Name":"Signs","Collections":["Books"],"Fields":{"V":{"Vector":""" + vector + "}}}");
        var definition = IndexDefinition.FromJson(json.RootElement);
        Assert.Throws<InvalidIndexDefinitionException>(
            () => _database.Indexes.Put(
                definition with { Fields = [definition.Fields[0] with { Vector = new(0, Bytes: true, Bits: true) }] }));
        _database.Indexes.Put(definition);
        Answer answer = await _database.AskAsync("from index Signs where vector.search(V, $v, 0.6)", """{"v":[2,-0.1]}""");
        Assert.Equal(["books/4"], answer.Ids);
        _database.Dispose();
        _database = Database.Open(_folder.Path);
        Assert.Equal([new VectorFieldDefinition(0, Bits: true)], _database.Indexes.Definition("Signs")?.Fields.Select(f => f.Vector));
    }
}
