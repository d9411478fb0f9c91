using System.Text;
using System.Text.Json;
using Treepie.Server.BulkInsert;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.BulkInsert;

public sealed class BulkInsertParserTests
{
    [Fact]
    public void Documents_are_found_however_the_bytes_are_cut()
    {
        var random = new Random(Seed.Next());
        var expected = new List<(string, string)>();
        var text = new StringBuilder("[");
        for (int i = 0; i < 50; i++)
        {
            if (i > 0)
                text.Append(i % 3 == 0 ? " ,\n " : ",");

            if (i % 7 == 0)
                text.Append("""{"Type":"HeartBeat"},""");

            string id = $"users/{i}ü\"";
            string json = JsonSerializer.Serialize(
                new
                {
                    text = new string((char)random.Next(32, 127), random.Next(40)) + "\\\"{[",
                    nested = new[] { new { a = "]}" } }
                });
            expected.Add((id, json));
            text.Append(i % 2 == 0
                ? $$"""{"Id":{{JsonSerializer.Serialize(id)}},"Type":"PUT","Document":{{json}}}"""
                : $$"""{"Document": {{json}} , "Type":"PUT","Other":[{"Id":"no"}],"Id":{{JsonSerializer.Serialize(id)}}}""");
        }

        text.Append("]trailing bytes are not looked at");
        byte[] bytes = Encoding.UTF8.GetBytes(text.ToString());
        for (int round = 0; round < 50; round++)
        {
            var found = new List<(string, string)>();
            var parser = new BulkInsertParser(new DatabaseOptions());
            int position = 0;
            while (!parser.Ended && position < bytes.Length)
            {
                int piece = Math.Min(random.Next(1, round + 2), bytes.Length - position);
                position += parser.Read(bytes.AsSpan(position, piece));
                if (parser.DocumentId is { } id)
                    found.Add((id, Encoding.UTF8.GetString(parser.Document.Span)));
            }

            Assert.True(parser.Ended);
            Assert.Equal(expected, found);
            Assert.Equal((byte)']', bytes[position - 1]);
        }
    }

    [Theory]
    [InlineData("{")]
    [InlineData("[5")]
    [InlineData("[,")]
    [InlineData("[{\"Type\":\"HeartBeat\"}{")]
    [InlineData("[{\"Type\":\"HeartBeat\"},]")]
    [InlineData("[{\"Id\":\"a\"}")]
    [InlineData("[{\"Id\":\"a\",\"Type\":\"PUT\"}")]
    [InlineData("[{\"Id\":\"\",\"Type\":\"PUT\",\"Document\":{}}")]
    [InlineData("[{\"Id\":5,\"Type\":\"PUT\",\"Document\":{}}")]
    [InlineData("[{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":[]}")]
    [InlineData("[{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":{]}")]
    public void What_is_no_bulk_insert_is_refused(string text)
    {
        var parser = new BulkInsertParser(new DatabaseOptions());
        WireException error = Assert.Throws<WireException>(() =>
        {
            byte[] bytes = Encoding.UTF8.GetBytes(text);
            for (int position = 0; position < bytes.Length;)
                position += parser.Read(bytes.AsSpan(position));
        });
        Assert.Equal(400, error.StatusCode);
    }

    [Fact]
    public void An_item_that_never_ends_is_refused_at_the_limit_and_held_no_longer()
    {
        var parser = new BulkInsertParser(new DatabaseOptions { MaxDocumentBytes = 1_000 });
        parser.Read("[{\"Id\":\"users/1\",\"Document\":{\"a\":\""u8);
        long before = GC.GetAllocatedBytesForCurrentThread();
        byte[] piece = new byte[4_096];
        WireException error = Assert.Throws<WireException>(() =>
        {
            for (int i = 0; i < 1_000; i++)
                parser.Read(piece);
        });
        Assert.Equal(413, error.StatusCode);
        Assert.True(GC.GetAllocatedBytesForCurrentThread() - before < 200_000);
    }
}
