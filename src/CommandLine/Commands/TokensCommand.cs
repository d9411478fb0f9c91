using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie tokens</c>: lists, creates and deletes tokens of a secured server.</summary>
internal static class TokensCommand
{
    private const int DefaultDays = 90, MostDays = 366;

    /// <summary>The command.</summary>
    public static Command Create(Shell shell) =>
        new("tokens", "Lists, creates and deletes tokens, for programs that have no certificate")
        {
            List(shell),
            Make(shell),
            Delete(shell),
        };

    private static Command List(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        var command = new Command("list", "Writes id, expiration, permissions and name of each token, one per line") { url };
        command.SetAction(shell, url, async (_, server, cancellationToken) =>
        {
            using HttpResponseMessage response = await server.SendAsync(
                HttpMethod.Get, "admin/tokens", null, cancellationToken);
            using JsonDocument answer = await ServerClient.ReadJsonAsync(response, cancellationToken);
            foreach (JsonElement token in answer.RootElement.GetProperty("Results").EnumerateArray())
                await shell.OutputText.WriteLineAsync(
                    $"{Text(token, "Id")}\t{Text(token, "NotAfter")}\t{Rights(token)}\t{Text(token, "Name")}");
            return ExitCode.Ok;
        });
        return command;
    }

    private static Command Make(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        var name = new Argument<string>("name") { Description = "What the token is for" };
        var clearance = new Option<string>("--clearance")
        {
            Description = "ValidUser, Operator or ClusterAdmin",
            DefaultValueFactory = _ => "ValidUser",
        };
        clearance.AcceptOnlyFromAmong("ValidUser", "Operator", "ClusterAdmin");
        var permissions = new Option<string[]>("--permission", "-p")
        {
            Description = "For a ValidUser: the permission for a database, such as shop=Read, shop=ReadWrite, shop=Admin",
            HelpName = "database=right",
        };
        permissions.Validators.Add(result =>
        {
            foreach (System.CommandLine.Parsing.Token token in result.Tokens)
                if (token.Value.Split('=') is not [{ Length: > 0 }, "Read" or "ReadWrite" or "Admin"])
                    result.AddError(
                        $"--permission takes a database and Read, ReadWrite or Admin, like shop=Read, not '{token.Value}'");
        });
        var days = new Option<int>("--days")
        {
            Description = "The time until it expires",
            HelpName = "n",
            DefaultValueFactory = _ => DefaultDays
        };
        days.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() is < 1 or > MostDays)
                result.AddError(string.Create(CultureInfo.InvariantCulture, $"--days goes from 1 to {MostDays}"));
        });
        var command = new Command(
            "create", "Creates a token and writes it to standard output; it cannot be read again later")
        {
            name, url, clearance, permissions, days,
        };
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            byte[] body = ServerClient.Json(writer =>
            {
                writer.WriteString("Name", parsed.GetRequiredValue(name));
                writer.WriteString("SecurityClearance", parsed.GetRequiredValue(clearance));
                writer.WriteStartObject("Permissions");
                foreach (string permission in parsed.GetValue(permissions) ?? [])
                    writer.WriteString(permission.Split('=')[0], permission.Split('=')[1]);
                writer.WriteEndObject();
                writer.WriteNumber("Days", parsed.GetValue(days));
            });
            using HttpResponseMessage response = await server.SendAsync(
                HttpMethod.Post, "admin/tokens", ServerClient.JsonContent(body), cancellationToken);
            using JsonDocument made = await ServerClient.ReadJsonAsync(response, cancellationToken);
            await shell.OutputText.WriteLineAsync(Text(made.RootElement, "Token"));
            await shell.Error.WriteLineAsync(
                $"Token {Text(made.RootElement, "Id")} is valid until {Text(made.RootElement, "NotAfter")}. Keep it now: the "
                    + $"server has a hash of it only.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static Command Delete(Shell shell)
    {
        Option<Uri> url = CommonOptions.Url();
        var id = new Argument<string>("id") { Description = "The id of the token, as shown by list" };
        var command = new Command("delete", "Deletes a token, which is invalid from then on") { id, url };
        command.Aliases.Add("revoke");
        command.SetAction(shell, url, async (parsed, server, cancellationToken) =>
        {
            using HttpResponseMessage response = await server.SendAsync(
                HttpMethod.Delete, "admin/tokens?id=" + Uri.EscapeDataString(parsed.GetRequiredValue(id)), null,
                cancellationToken);
            await shell.Error.WriteLineAsync($"Token {parsed.GetRequiredValue(id)} is deleted.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static string Rights(JsonElement token)
    {
        string clearance = Text(token, "SecurityClearance");
        return clearance == "ValidUser"
            && token.TryGetProperty("Permissions", out JsonElement permissions)
            && permissions.ValueKind == JsonValueKind.Object
            ? string.Join(',', permissions.EnumerateObject().Select(static right => $"{right.Name}={right.Value}"))
            : clearance;
    }

    private static string Text(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) ? value.ToString() : "";
}
