using System.CommandLine;
using System.Net;
using Treepie.CommandLine.Certificates;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie secure</c>: creates all certificates that a secured server needs to start.</summary>
internal static class SecureCommand
{
    private const int Port = 8443;

    /// <summary>Names that always reach a server from its own machine.</summary>
    private static readonly string[] _local = ["localhost", "127.0.0.1", "::1"];

    /// <summary>The command.</summary>
    public static Command Create(Shell shell)
    {
        var directory = new Argument<DirectoryInfo>(
            "directory")
        { Description = "The data directory of the server, which need not exist yet" };
        var names = new Option<string[]>("--name")
        {
            Description = "A host name or address of the server for clients; may be given several times. Default: localhost",
            HelpName = "name",
            DefaultValueFactory = _ => [],
        };
        var renew = new Option<bool>(
            "--renew")
        { Description = "Renew the certificates with the same keys; a running server uses them without a restart" };
        var command = new Command("secure",
            "Makes an authority, a server's certificate and an administrator's, in <directory>/security, and says how to use "
            + "them") { directory, names, renew };
        command.SetAction((parsed, cancellationToken) => OfflineCommands.RunAsync(
            shell,
            async () =>
            {
                string data = Path.GetFullPath(parsed.GetRequiredValue(directory).FullName);
                string[] given = parsed.GetRequiredValue(names);
                foreach (string name in given)
                    Check(name);

                var folder = new SecurityFolder(data, shell.Time);
                string[] all = [.. given.Concat(_local).Distinct(StringComparer.OrdinalIgnoreCase)];
                if (parsed.GetValue(renew))
                {
                    folder.Renew(given.Length > 0 ? all : null);
                    await shell.Error.WriteLineAsync(
                        $"'{folder.Server}' and '{folder.AdminPem}' are renewed. A running server uses its own from the next "
                        + "connection on.");
                    return ExitCode.Ok;
                }

                folder.Create(all);
                await shell.OutputText.WriteLineAsync(Explain(data, all[0], folder));
                return ExitCode.Ok;
            },
            cancellationToken));
        return command;
    }

    private static void Check(string name)
    {
        if (!IPAddress.TryParse(name, out _) && Uri.CheckHostName(name) != UriHostNameType.Dns)
            throw new UsageException(
                $"'{name}' is neither the name of a host, such as db.example.com, nor an address, such as 192.0.2.7.");
    }

    private static string Explain(string data, string name, SecurityFolder folder)
    {
        bool isLocal = _local.Contains(name, StringComparer.OrdinalIgnoreCase);
        string host = name.Contains(':', StringComparison.Ordinal) ? $"[{name}]" : name;
        string url = $"https://{host}:{Port}";
        string listen = isLocal ? url : $"https://0.0.0.0:{Port}";
        string publicUrl = isLocal ? "" : $" --public-url {url}";
        return $$"""
            An authority, the certificate of the server for {{name}} and the certificate of an administrator are made.

            Start the server:
              Treepie.Server --data "{{data}}" --urls {{listen}}{{publicUrl}} --certificate "{{folder.Server}}" --admin-certificate "{{folder.AdminCertificate}}"

            Ask it as the administrator:
              curl --cacert "{{folder.Authority}}" --cert "{{folder.AdminPem}}" {{url}}/databases
              treepie databases list --url {{url}} --certificate "{{folder.AdminPem}}" --authority "{{folder.Authority}}"

            From Node.js:
              new DocumentStore("{{url}}", "shop", {
                type: "pem", certificate: fs.readFileSync("{{folder.AdminPem}}"), ca: fs.readFileSync("{{folder.Authority}}") });

            {{folder.AdminPfx}} is the same for what takes no PEM, browsers for instance; it has no password.
            Give the authority (authority.crt) to clients. Keep authority.key elsewhere: who has it can pass as this server. Renewing needs it ('treepie secure ... --renew').
            """;
    }
}
