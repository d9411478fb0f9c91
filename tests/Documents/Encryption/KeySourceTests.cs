using System.Security.Cryptography;
using System.Text;
using Treepie.Encryption;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Encryption;

/// <summary>
/// Keys from files, variables and commands: every form that is one, and every bad one with its own error, which never quotes the
/// secret.
/// </summary>
public sealed class KeySourceTests : IDisposable
{
    private const string Shell = "/bin/sh";

    private readonly TemporaryDirectory _directory = new();
    private readonly byte[] _bytes = RandomNumberGenerator.GetBytes(EncryptionKey.SizeBytes);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Base64 => Convert.ToBase64String(_bytes);

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_file_may_hold_the_bytes_base64_or_hexadecimal_digits()
    {
        foreach (byte[] content in (byte[][])
        [
            _bytes, Text(Base64), Text($"  {Base64}\r\n"), Text(Convert.ToHexString(_bytes)),
            Text(Convert.ToHexStringLower(_bytes) + "\n"), Text(Base64.TrimEnd('=').Replace('+', '-').Replace('/', '_'))
        ])
            Assert.Equal(_bytes, BytesOf(KeySource.FromFile(Write(content)).Read(Token)));
    }

    [Theory]
    [InlineData("", "is empty")]
    [InlineData(" \n", "is empty")]
    [InlineData("c2hvcnQga2V5", "a key of 9 bytes; a key has 32")]
    [InlineData("0123456789abcdef0123456789abcdef", "a key of 24 bytes; a key has 32")] // 32 characters are not 32 random bytes
    [InlineData("my dog has a name; it is the key", "32 bytes that are no key")]
    [InlineData("not/base64/either!", "18 bytes that are no key")]
    [InlineData("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "are the same")]
    public void What_is_no_key_is_refused_with_the_reason_and_not_quoted(string content, string reason)
    {
        string path = Write(Text(content));

        KeySourceException error = Assert.Throws<KeySourceException>(() => KeySource.FromFile(path).Read(Token));

        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
        Assert.Contains(path, error.Message, StringComparison.Ordinal);
        if (content.Trim().Length > 0)
            Assert.DoesNotContain(content.Trim(), error.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_file_that_is_not_there_is_a_directory_or_is_huge_says_so()
    {
        Assert.Contains(
            "There is no key file", Message(KeySource.FromFile(Path.Combine(_directory.Path, "none"))), StringComparison.Ordinal);
        Assert.Contains(
            "There is no key file", Message(KeySource.FromFile(Path.Combine(_directory.Path, "no", "folder"))),
            StringComparison.Ordinal);
        Assert.Contains("cannot be read", Message(KeySource.FromFile(_directory.Path)), StringComparison.Ordinal);
        Assert.Contains("too long", Message(KeySource.FromFile(Write(new byte[100_000]))), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(UnixFileMode.GroupRead, "640")]
    [InlineData(UnixFileMode.OtherRead, "604")]
    [InlineData(UnixFileMode.GroupRead | UnixFileMode.OtherRead, "644")]
    [InlineData(UnixFileMode.OtherWrite, "602")]
    public void A_file_that_others_may_read_or_write_is_refused_with_the_command_that_mends_it(UnixFileMode more, string octal)
    {
        if (OperatingSystem.IsWindows())
        {
            Assert.Skip("Modes of files are Unix's.");
            return;
        }

        string path = Write(_bytes);
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | more);

        string message = Message(KeySource.FromFile(path));

        Assert.Contains($"open to other accounts of this machine (mode {octal})", message, StringComparison.Ordinal);
        Assert.Contains($"chmod 600 '{path}'", message, StringComparison.Ordinal);
        File.SetUnixFileMode(path, UnixFileMode.UserRead);
        Assert.Equal(_bytes, BytesOf(KeySource.FromFile(path).Read(Token)));
    }

    [Fact]
    public void A_key_file_is_made_for_its_owner_alone_and_never_over_another()
    {
        string path = Path.Combine(_directory.Path, "new.key");
        using EncryptionKey key = EncryptionKey.Generate();
        KeyFile.Create(path, key);

        Assert.Equal(BytesOf(key), BytesOf(KeySource.FromFile(path).Read(Token)));
        if (!OperatingSystem.IsWindows())
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(path));
        string before = File.ReadAllText(path);
        Assert.Contains(
            "only copy", Assert.Throws<KeySourceException>(() => KeyFile.Create(path, key)).Message, StringComparison.Ordinal);
        Assert.Equal(before, File.ReadAllText(path));
        Assert.Contains(
            "cannot be written",
            Assert.Throws<KeySourceException>(() => KeyFile.Create(Path.Combine(_directory.Path, "no", "x"), key)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_variable_holds_a_key_or_is_told_to_be_missing_empty_or_wrong()
    {
        string name = $"TREEPIE_TEST_KEY_{Guid.NewGuid():N}";
        KeySource source = KeySource.FromEnvironmentVariable(name);
        try
        {
            Assert.Contains("is not set", Message(source), StringComparison.Ordinal);
            Environment.SetEnvironmentVariable(name, Base64);
            Assert.Equal(_bytes, BytesOf(source.Read(Token)));
            Environment.SetEnvironmentVariable(name, "secret but short");
            Assert.DoesNotContain("secret but short", Message(source), StringComparison.Ordinal);
            Environment.SetEnvironmentVariable(name, new string('x', 20_000));
            Assert.Contains("too long", Message(source), StringComparison.Ordinal);
        }
        finally
        {
            Environment.SetEnvironmentVariable(name, null);
        }
    }

    [Fact]
    public void A_command_gives_what_it_writes()
    {
        Unix();
        Assert.Equal(_bytes, BytesOf(KeySource.Parse($"command:{Shell} -c 'echo {Base64}'").Read(Token)));
        Assert.Equal(_bytes, BytesOf(KeySource.FromCommand("/bin/cat", [Write(_bytes)]).Read(Token)));
    }

    [Theory]
    [InlineData("echo leaked-secret; echo vault is sealed >&2; exit 7", "exit code 7: vault is sealed")]
    [InlineData("exit 1", "exit code 1, and said nothing")]
    [InlineData("echo no such entry >&2", "wrote nothing to its standard output, where the key is expected: no such entry")]
    [InlineData("yes leaked-secret", "writes too much")]
    [InlineData("echo leaked-secret", "no key")]
    [InlineData("yes >&2 & sleep 600", "did not end within 0.5 seconds")]
    public void A_command_that_fails_writes_too_much_or_hangs_is_told_and_killed(string script, string reason)
    {
        Unix();
        var source = KeySource.FromCommand(
            Shell, ["-c", script],
            timeLimit: TimeSpan.FromSeconds(reason.StartsWith("did not", StringComparison.Ordinal) ? 0.5 : 60));

        string message = Message(source);

        Assert.Contains(reason, message, StringComparison.Ordinal);
        Assert.DoesNotContain("leaked-secret", message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_command_that_cannot_be_started_or_is_no_full_path_is_told()
    {
        Assert.Contains("is not a full path", Message(KeySource.FromCommand("cat", ["x"])), StringComparison.Ordinal);
        Assert.Contains(
            "cannot be started", Message(KeySource.FromCommand(Path.Combine(_directory.Path, "none"), [])),
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_command_is_killed_when_who_waits_for_it_gives_up()
    {
        Unix();
        using var stop = new CancellationTokenSource();
        stop.Cancel();
        Assert.ThrowsAny<OperationCanceledException>(() => KeySource.FromCommand(Shell, ["-c", "sleep 600"]).Read(stop.Token));
    }

    [Fact]
    public void A_passphrase_is_the_text_without_the_end_of_its_line()
    {
        using EncryptionKey key = KeySource.FromFile(Write(Text("correct horse battery staple\r\n")), isPassphrase: true)
            .Read(Token);
        Assert.True(key.IsPassphrase);
        Assert.Contains(
            "at least 12 characters", Message(KeySource.FromFile(Write([]), isPassphrase: true)), StringComparison.Ordinal);
        string tooShort = Message(KeySource.FromFile(Write(Text("magpie\n")), isPassphrase: true));
        Assert.Contains("this one has 6", tooShort, StringComparison.Ordinal);
        Assert.DoesNotContain("magpie", tooShort, StringComparison.Ordinal);
        Assert.DoesNotContain("Parameter", tooShort, StringComparison.Ordinal);
        Assert.Contains(
            "not UTF-8", Message(KeySource.FromFile(Write([0xFF, .. _bytes]), isPassphrase: true)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("file:/a b/c", "The key file '/a b/c'")]
    [InlineData("passphrase-file:C:\\keys\\a", "The key file 'C:\\keys\\a'")]
    [InlineData("env:KEY", "The environment variable 'KEY'")]
    [InlineData("command:/usr/bin/pass 'show it' now", "The command '/usr/bin/pass' with 2 arguments")]
    [InlineData("passphrase-command:/usr/bin/ask", "The command '/usr/bin/ask'")]
    public void A_source_is_written_as_text_and_says_what_it_is(string text, string description) =>
        Assert.Equal(description, KeySource.Parse(text).Description);

    [Theory]
    [InlineData("")]
    [InlineData("file:")]
    [InlineData("env: ")]
    [InlineData("passphrase:correct horse battery staple")]
    [InlineData("FILE:/x")]
    [InlineData("command:'/bin/x")]
    [InlineData("command:  ")]
    [InlineData("3q2+78r+ur6tvu/K/rq+re++78r+ur6tvu/K/rq+re8=")]
    public void What_is_no_source_is_refused_and_not_quoted(string text)
    {
        KeySourceException error = Assert.Throws<KeySourceException>(() => KeySource.Parse(text));
        Assert.Contains("key", error.Message, StringComparison.Ordinal);
        if (text.Length > 12)
            Assert.DoesNotContain(text, error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("a b", "a", "b")]
    [InlineData("  /x\t'b c'  \"d 'e'\" f'g'h '' ", "/x", "b c", "d 'e'", "fgh", "")]
    [InlineData("a\\ b $HOME", "a\\", "b", "$HOME")]
    public void A_command_line_is_split_without_a_shell(string line, params string[] words) =>
        Assert.Equal(words, KeyCommand.Split(line));

    private static void Unix() => Assert.SkipWhen(OperatingSystem.IsWindows(), "Needs /bin/sh.");

    private static string Message(KeySource source) => Assert.Throws<KeySourceException>(() => source.Read(Token)).Message;

    private static byte[] Text(string text) => Encoding.UTF8.GetBytes(text);

    private static byte[] BytesOf(EncryptionKey key)
    {
        byte[] bytes = new byte[EncryptionKey.SizeBytes];
        key.CopyTo(bytes);
        return bytes;
    }

    private string Write(byte[] content)
    {
        string path = Path.Combine(_directory.Path, Guid.NewGuid().ToString("N"));
        File.WriteAllBytes(path, content);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return path;
    }
}
