using System.Text;
using Treepie.CommandLine.Http;
using Treepie.Tests.Support;

namespace Treepie.Clients.Tests.CommandLine;

public sealed class LineReaderTests
{
    [Theory]
    [InlineData("")]
    [InlineData("a", "a")]
    [InlineData("a\n", "a")]
    [InlineData("a\r\nb\r\n", "a", "b")]
    [InlineData("\n\nx", "", "", "x")]
    [InlineData("\uFEFFa\nb", "a", "b")]
    public async Task Lines_end_with_lf_or_crlf_or_the_stream(string text, params string[] expected)
    {
        Assert.Equal(expected, (await ReadAsync(new MemoryStream(Encoding.UTF8.GetBytes(text)), 100)).Select(line => line.Text));
    }

    [Fact]
    public async Task Lines_beyond_the_limit_are_marked_and_the_next_is_read_whole()
    {
        string text = $"short\n{new string('x', 1000)}\nafter\n{new string('y', 64)}\n{new string('z', 65)}";
        List<(string Text, bool TooLong, long Number)> lines = await ReadAsync(
            new MemoryStream(Encoding.UTF8.GetBytes(text)), 64);
        Assert.Equal([false, true, false, false, true], lines.Select(line => line.TooLong));
        Assert.Equal([1, 2, 3, 4, 5], lines.Select(line => line.Number));
        Assert.Equal("after", lines[2].Text);
        Assert.Equal(64, lines[3].Text.Length);
    }

    [Fact]
    public async Task Any_pieces_of_a_stream_give_the_lines_of_a_simple_split()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            int length = random.Next(0, 3000);
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++)
                bytes[i] = random.Next(20) == 0 ? (byte)'\n' : (byte)('a' + random.Next(26));

            string text = Encoding.ASCII.GetString(bytes);
            string[] expected = text.Split('\n');
            if (expected[^1].Length == 0)
                expected = expected[..^1];

            Assert.Equal(expected, (await ReadAsync(new Pieces(bytes, random), 1000)).Select(line => line.Text));
        }
    }

    private static async Task<List<(string Text, bool TooLong, long Number)>> ReadAsync(Stream stream, int maxLineBytes)
    {
        var reader = new LineReader(stream, maxLineBytes);
        var lines = new List<(string, bool, long)>();
        while (await reader.ReadAsync(TestContext.Current.CancellationToken))
            lines.Add((Encoding.UTF8.GetString(reader.Line.Span), reader.IsTooLong, reader.LineNumber));

        return lines;
    }

    /// <summary>Gives a few bytes at a time, as a network does.</summary>
    private sealed class Pieces(byte[] bytes, Random random) : MemoryStream(bytes)
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            base.ReadAsync(buffer[..Math.Min(buffer.Length, random.Next(1, 50))], cancellationToken);
    }
}
