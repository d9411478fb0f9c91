using System.Globalization;
using Treepie.Server.Hosting;
using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Hosting;

public sealed class LimitOptionTests
{
    public static TheoryData<string> Names() => [.. LimitOption.All.Select(limit => limit.Name)];

    [Theory]
    [MemberData(nameof(Names))]
    public void Every_limit_is_in_the_help_with_its_default_and_reaches_its_setting(string name)
    {
        LimitOption limit = LimitOption.Find(name)!; // the names are those of the table
        var settings = new TreepieServerOptions();
        string line = HelpText.Text.Split('\n').Single(text => text.Contains($"--{name} <n>", StringComparison.Ordinal));
        Assert.EndsWith(
            $". Default: {limit.Get(settings).ToString("0.###", CultureInfo.InvariantCulture)}", line.TrimEnd(),
            StringComparison.Ordinal);

        (LimitOption given, decimal value) = Assert.Single(CommandLineParser.Parse([$"--{name}", "7"]).Limits);
        decimal[] before = [.. LimitOption.All.Select(other => other.Get(settings))];
        given.Set(settings, value);
        for (int i = 0; i < before.Length; i++)
            Assert.Equal(LimitOption.All[i] == limit ? 7 : before[i], LimitOption.All[i].Get(settings));
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void The_page_about_limits_has_every_limit_with_its_default(string name)
    {
        string page = Path.Combine(DataSets.RepositoryRoot, "docs/reference/limits.md");
        string line = Assert.Single(File.ReadLines(page), line => line.StartsWith($"| `--{name}` | ", StringComparison.Ordinal));
        string said = line.Split('|')[2].Trim().Split(':')[0];
        decimal inForce = LimitOption.Find(name)!.Get(new TreepieServerOptions()); // the names are those of the table
        Assert.Equal(name == "max-queries" ? "2 a core" : inForce.ToString("#,0.###", CultureInfo.InvariantCulture), said);
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void A_value_without_a_meaning_is_refused_with_the_options_name(string name)
    {
        LimitOption limit = LimitOption.Find(name)!; // the names are those of the table
        foreach (string value in (string[])
        [
            "0", "-1", "many", "1e3", "0x10", "", "99999999999999999999999999999999",
            (limit.Most + 1).ToString(CultureInfo.InvariantCulture)
        ])
        {
            CommandLineException error = Assert.Throws<CommandLineException>(
                () => CommandLineParser.Parse([$"--{name}={value}"]));
            Assert.Contains($"--{name}", error.Message, StringComparison.Ordinal);
        }

        Assert.Throws<CommandLineException>(() => CommandLineParser.Parse([$"--{name}"]));
        Assert.Single(CommandLineParser.Parse([$"--{name}={limit.Least.ToString(CultureInfo.InvariantCulture)}"]).Limits);
    }
}
