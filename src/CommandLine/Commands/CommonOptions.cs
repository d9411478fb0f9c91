using System.CommandLine;

namespace Treepie.CommandLine.Commands;

/// <summary>Options that several commands share. Each command gets its own.</summary>
internal static class CommonOptions
{
    /// <summary>Where a server listens unless it is told otherwise.</summary>
    public static Uri DefaultUrl { get; } = new("http://127.0.0.1:8080");

    /// <summary><c>--url</c>.</summary>
    public static Option<Uri> Url() => new("--url", "-u")
    {
        Description = "Where the server listens",
        HelpName = "url",
        DefaultValueFactory = _ => DefaultUrl,
        CustomParser = result =>
        {
            string text = result.Tokens[0].Value;
            if (Uri.TryCreate(text, UriKind.Absolute, out Uri? url) && url.Scheme is "http" or "https")
                return url;

            result.AddError($"'{text}' is not the address of a server, like {DefaultUrl}");
            return null;
        },
    };

    /// <summary><c>--database</c>.</summary>
    public static Option<string> Database() => new("--database", "-d")
    {
        Description = "Name of the database",
        HelpName = "name",
        Required = true,
    };
}
