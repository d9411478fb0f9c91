using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using Microsoft.Build.Framework;
using Microsoft.Build.Utilities;

/// <summary>
/// Writes the sources of the storage engine with every mutant in them behind a switch, and with threads that can be interrupted
/// at every step at which they meet. Run by the build; see the head of mutants.txt for the format of the list. Text that is not found exactly once fails the build, naming the mutant.
/// </summary>
public class MutateSources : Task
{
    [Required]
    public string SourceFolder { get; set; }

    [Required]
    public string ListFile { get; set; }

    [Required]
    public string OutputFolder { get; set; }

    public override bool Execute()
    {
        var sources = Directory.GetFiles(SourceFolder, "*.cs", SearchOption.AllDirectories)
            .Select(file => file.Substring(SourceFolder.Length).Replace('\\', '/'))
            .Where(
                file => !file.StartsWith("obj/", StringComparison.Ordinal) && !file.StartsWith("bin/", StringComparison.Ordinal))
            .ToDictionary(file => file, file => File.ReadAllText(Path.Combine(SourceFolder, file)));
        var names = new List<string>();
        string at = "", find = "", replace = "", section = "";
        int number = 0;
        foreach (string line in File.ReadAllLines(ListFile).Concat(new[] { "" }))
        {
            number++;
            if (line.StartsWith("- ", StringComparison.Ordinal))
            {
                if (replace.Length > 0 && !Apply(sources, names, at, ref find, ref replace))
                    return false;
                find += line.Substring(2) + "\n";
                continue;
            }

            if (line.StartsWith("+", StringComparison.Ordinal))
            {
                replace += line.Substring(Math.Min(2, line.Length)) + "\n";
                continue;
            }

            if (find.Length > 0 && !Apply(sources, names, at, ref find, ref replace))
                return false;
            if (line.StartsWith("[", StringComparison.Ordinal))
            {
                Match head = Regex.Match(line, @"^\[(?<name>[a-z0-9-]+)\] (?<what>.+)$");
                if (!head.Success
                    || names.Any(name => name.StartsWith(head.Groups["name"].Value + "\t", StringComparison.Ordinal)))
                {
                    Log.LogError(
                        "mutants.txt, line {0}: '[name] what it breaks' with a name of its own is expected, not '{1}'.", number,
                        line);
                    return false;
                }

                bool isEncrypted = section.StartsWith("encryption", StringComparison.Ordinal);
                names.Add(
                    head.Groups["name"].Value + "\t" + head.Groups["what"].Value + "\t" + (isEncrypted ? "true" : "false")
                        + "\t");
            }
            else if (line.StartsWith("~ ", StringComparison.Ordinal))
            {
                names[names.Count - 1] = names.Last().Substring(0, names.Last().LastIndexOf('\t') + 1) + line.Substring(2).Trim();
            }
            else if (line.StartsWith("== ", StringComparison.Ordinal))
            {
                section = line.Substring(3);
            }
            else if (line.StartsWith("@ ", StringComparison.Ordinal))
            {
                at = line.Substring(2).Trim();
                if (!sources.ContainsKey(at))
                {
                    Log.LogError(
                        "Mutant '{0}': there is no src/Storage/{1} any more. Say in tests/Mutants/mutants.txt where its code is "
                            + "now.",
                        names.Last().Split('\t')[0], at);
                    return false;
                }
            }
        }

        if (Log.HasLoggedErrors)
            return false;

        foreach (KeyValuePair<string, string> source in sources)
            Write(source.Key, Stepped(source.Value));
        Write("Mutant.g.cs", Switch(names));
        foreach (string old in Directory.GetFiles(OutputFolder, "*.cs", SearchOption.AllDirectories))
        {
            string name = old.Substring(OutputFolder.Length).Replace('\\', '/');
            if (name != "Mutant.g.cs" && !sources.ContainsKey(name))
                File.Delete(old);
        }

        return true;
    }

    private bool Apply(Dictionary<string, string> sources, List<string> names, string file, ref string find, ref string replace)
    {
        string name = names.Last().Split('\t')[0];
        if (replace.Length == 0)
        {
            Log.LogError("Mutant '{0}': text to find without a replacement.", name);
            return false;
        }

        find = Named(find, names);
        replace = Named(replace, names);

        // White space, or none, counts as any white space, so that a change of indentation or of a line's end makes no mutant
        // stale.
        var pattern = new Regex(
            string.Join(@"\s*", find.Where(sign => !char.IsWhiteSpace(sign)).Select(sign => Regex.Escape(sign.ToString()))));
        MatchCollection found = pattern.Matches(sources[file]);
        if (found.Count != 1)
        {
            Log.LogError(
                "Mutant '{0}' is stale: its text is found {1} times in src/Storage/{2}, once is right. Look in "
                    + "tests/Mutants/mutants.txt what it breaks and let it break the same in the code as it is now. The text: "
                    + "{3}",
                name, found.Count, file, find.Trim());
            find = replace = "";
            return true; // so that all stale ones are told at once
        }

        string mutated = replace.Replace("MUTANT", "global::Treepie.Mutants.Mutant.Is(" + names.Count + ")");
        sources[file] = sources[file].Substring(0, found[0].Index) + mutated.TrimEnd('\n')
            + sources[file].Substring(found[0].Index + found[0].Length);
        find = replace = "";
        return true;
    }

    /// <summary>
    /// The source with locks that a logical thread can be interrupted in, and cancellation that it cannot. Other steps at which
    /// threads meet (interlocked and volatile ones) need no change: their names stand for other types in this project.
    /// </summary>
    private static string Stepped(string source) =>
        Regex.Replace(source, @"\block \(([^()]+)\)", "using (global::Treepie.Mutants.Steps.Locked.Enter($1))")
            .Replace(".Cancel();", ".CancelInOneStep();");

    /// <summary>MUTANT(name) is the switch of another mutant, further up, whose text this one changes again.</summary>
    private static string Named(string text, List<string> names) => Regex.Replace(
        text,
        @"MUTANT\(([a-z0-9-]+)\)",
        match => "global::Treepie.Mutants.Mutant.Is("
            + (names.FindIndex(name => name.StartsWith(match.Groups[1].Value + "\t", StringComparison.Ordinal)) + 1) + ")");

    private static string Switch(List<string> names)
    {
        var text = new StringBuilder(
            "namespace Treepie.Mutants;\n\ninternal static partial class Mutant\n{\n    public static readonly (string Name, "
                + "string What, bool IsOfEncryption, string Modes)[] All =\n    [\n");
        foreach (string name in names)
            text.Append("        (\"")
                .Append(name.Split('\t')[0])
                .Append("\", \"")
                .Append(name.Split('\t')[1].Replace("\\", "\\\\").Replace("\"", "\\\""))
                .Append("\", ")
                .Append(name.Split('\t')[2])
                .Append(", \"")
                .Append(name.Split('\t')[3])
                .Append("\"),\n");
        return text.Append("    ];\n}\n").ToString();
    }

    private void Write(string name, string text)
    {
        string path = Path.Combine(OutputFolder, name);
        if (File.Exists(path) && File.ReadAllText(path) == text)
            return;

        Directory.CreateDirectory(Path.GetDirectoryName(path));
        File.WriteAllText(path, text);
    }
}
