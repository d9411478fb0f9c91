using System.CommandLine;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Commands;

/// <summary>Options shared by several commands. Each command gets its own instances.</summary>
internal static class CommonOptions
{
    /// <summary>Default address of a server.</summary>
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

    private const string CertificateName = "--certificate", AuthorityName = "--authority";

    /// <summary>Adds <c>--certificate</c> and <c>--authority</c> for all commands.</summary>
    public static void AddIdentity(RootCommand root)
    {
        root.Add(
            new Option<FileInfo?>(CertificateName)
            {
                Description = "Your certificate with its key, for a server that asks for one: PEM or PFX",
                HelpName = "file",
                Recursive = true
            });
        root.Add(
            new Option<FileInfo?>(AuthorityName)
            {
                Description = "The authority that issued the server's certificate, if this machine does not trust it",
                HelpName = "file",
                Recursive = true
            });
    }

    /// <summary>Loads the files given by these two options.</summary>
    /// <exception cref="UsageException">A file cannot be used.</exception>
    public static ClientIdentity Identity(ParseResult parsed) =>
        ClientIdentity.Load(
            parsed.GetValue<FileInfo?>(CertificateName)?.FullName, parsed.GetValue<FileInfo?>(AuthorityName)?.FullName);

    /// <summary><c>--directory</c>.</summary>
    public static Option<DirectoryInfo?> Directory() => new("--directory")
    {
        Description =
            "Ask the files themselves, of a server that is stopped: its data directory (with --database), or a database in it. "
                + "Indexes are opened and brought up to date as a server does",
        HelpName = "path",
    };

    /// <summary><c>--database</c> for commands that also have <c>--directory</c>.</summary>
    public static Option<string?> OptionalDatabase() => new("--database", "-d")
    {
        Description = "Name of the database",
        HelpName = "name",
    };

    /// <summary>Requires that <c>--database</c> or <c>--directory</c> is given.</summary>
    public static void RequireOne(
        System.CommandLine.Parsing.CommandResult result, Option<string?> database, Option<DirectoryInfo?> directory)
    {
        if (result.GetValue(database) is null && result.GetValue(directory) is null)
            result.AddError("Option '--database' is required, or '--directory' for the files of a stopped server.");
    }

    /// <summary><c>--database</c>.</summary>
    public static Option<string> Database() => new("--database", "-d")
    {
        Description = "Name of the database",
        HelpName = "name",
        Required = true,
    };
}
