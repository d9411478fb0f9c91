using System.Buffers;
using System.Text;
using Microsoft.AspNetCore.Http;
using Treepie.Server.Http;
using Treepie.Server.Tests.Support;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Http;

public sealed class ResponseBodyTests
{
    private readonly TestClock _clock = new();

    [Theory]
    [InlineData(1)]
    [InlineData(8 * 1024)]
    [InlineData(ResponseBody.MostWholeBytes)]
    public async Task What_fits_is_sent_at_the_end_with_its_length(int length)
    {
        (DefaultHttpContext http, MemoryStream sent) = Open();
        using var body = new ResponseBody(http, new ServerLimits(), _clock);
        body.Write(new byte[length]);
        Assert.False(body.IsStreamed);
        Assert.Equal(0, sent.Length);
        await body.CompleteAsync();
        Assert.Equal(length, http.Response.ContentLength);
        Assert.Equal(length, sent.Length);
    }

    [Fact]
    public async Task A_byte_more_is_streamed_without_a_length()
    {
        (DefaultHttpContext http, MemoryStream sent) = Open();
        using var body = new ResponseBody(http, new ServerLimits(), _clock);
        body.Write(new byte[ResponseBody.MostWholeBytes]);
        body.Write("x"u8);
        Assert.True(body.IsStreamed);
        Assert.True(body.IsFlushDue);
        await body.FlushAsync(TestServer.Cancelled);
        Assert.False(body.IsFlushDue);
        await body.CompleteAsync();
        Assert.Null(http.Response.ContentLength);
        Assert.Equal(ResponseBody.MostWholeBytes + 1, sent.Length);
    }

    [Fact]
    public async Task What_is_discarded_is_not_sent()
    {
        (DefaultHttpContext http, MemoryStream sent) = Open();
        using var body = new ResponseBody(http, new ServerLimits(), _clock);
        body.Write("half an answer"u8);
        body.Discard();
        Assert.Equal(0, body.WrittenBytes);
        body.Write("an error"u8);
        await body.CompleteAsync();
        Assert.Equal("an error", Encoding.UTF8.GetString(sent.ToArray()));
        Assert.Equal(8, http.Response.ContentLength);
    }

    [Theory]
    [InlineData("")]
    [InlineData("Auto/Movies/ByYear")]
    [InlineData("Ménage à trois, 日本, 😀")]
    [InlineData("a \"quoted\" \\ and \n a line")]
    public async Task A_text_is_written_as_json(string text)
    {
        (DefaultHttpContext http, MemoryStream sent) = Open();
        using var body = new ResponseBody(http, new ServerLimits(), _clock);
        string longer = string.Concat(Enumerable.Repeat(text, 100));
        body.Write("["u8);
        body.WriteString(text);
        body.Write(","u8);
        body.WriteString(longer);
        body.Write(","u8);
        body.WriteString(Encoding.UTF8.GetBytes(text));
        body.Write("]"u8);
        await body.CompleteAsync();
        Assert.Equal([text, longer, text], System.Text.Json.JsonSerializer.Deserialize<string[]>(sent.ToArray())!);
    }

    [Fact]
    public async Task Bytes_arrive_as_they_were_written_however_they_are_written()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            (DefaultHttpContext http, MemoryStream sent) = Open();
            using var body = new ResponseBody(http, new ServerLimits(), _clock);
            var expected = new ArrayBufferWriter<byte>();
            int most = 1 << random.Next(1, 16);
            for (int i = random.Next(40); i >= 0; i--)
            {
                byte[] piece = new byte[random.Next(most)];
                random.NextBytes(piece);
                expected.Write(piece);
                switch (random.Next(4))
                {
                    case 0:
                        body.Write(piece);
                        break;
                    case 1:
                        piece.CopyTo(body.GetSpan(piece.Length));
                        body.Advance(piece.Length);
                        break;
                    case 2:
                        piece.CopyTo(body.GetMemory(piece.Length + random.Next(100)));
                        body.Advance(piece.Length);
                        break;
                    default:
                        BuffersExtensions.Write(body, piece);
                        break;
                }

                Assert.Equal(expected.WrittenCount, body.WrittenBytes);
                if (random.Next(50) == 0)
                    await body.FlushAsync(TestServer.Cancelled);
            }

            bool isStreamed = body.IsStreamed;
            await body.CompleteAsync();
            if (isStreamed)
                await http.Response.BodyWriter.FlushAsync(TestServer.Cancelled);
            Assert.Equal(expected.WrittenSpan, sent.ToArray());
            Assert.Equal(isStreamed || expected.WrittenCount == 0 ? null : expected.WrittenCount, http.Response.ContentLength);
        }
    }

    private static (DefaultHttpContext Http, MemoryStream Sent) Open()
    {
        var sent = new MemoryStream();
        var http = new DefaultHttpContext();
        http.Response.Body = sent;
        return (http, sent);
    }
}
