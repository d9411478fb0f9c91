using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;

namespace Treepie.Bench.Measuring;

/// <summary>Kestrel that answers from memory, in its own process: the limit beside which a server's figures stand.</summary>
internal static class LimitServer
{
    /// <summary>First argument of the process that runs it.</summary>
    public const string Verb = "limit-server";

    /// <summary>Runs until a line on standard input.</summary>
    public static async Task RunAsync(int answerBytes)
    {
        byte[] answer = new byte[answerBytes];
        answer.AsSpan().Fill((byte)' ');
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        await using WebApplication app = builder.Build();
        app.Run(async context =>
        {
            await context.Request.Body.CopyToAsync(Stream.Null);
            context.Response.ContentType = "application/json; charset=utf-8";
            context.Response.ContentLength = answer.Length;
            await context.Response.Body.WriteAsync(answer);
        });
        await app.StartAsync();
        string url = app.Urls.First();
        Console.WriteLine($"Server available on: {url}");
        await Console.In.ReadLineAsync();
    }
}
