using System.Text;

namespace Treepie.CommandLine.Completion;

/// <summary>
/// Completion scripts. Each matches the words of the line against command names, starting at the root, and offers what may follow
/// the command found.
/// </summary>
internal static class CompletionScript
{
    /// <summary>The supported shells.</summary>
    public static IReadOnlyList<string> Shells { get; } = ["bash", "zsh", "fish", "pwsh"];

    /// <summary>The script for one of <see cref="Shells"/>.</summary>
    public static string For(string shell, CompletionWords words) => shell switch
    {
        "bash" => Bash(words),
        "zsh" => "autoload -U +X bashcompinit && bashcompinit\n" + Bash(words),
        "fish" => Fish(words),
        _ => PowerShell(words),
    };

    private static string Bash(CompletionWords words) => $$"""
        _treepie_words() {
          case "$1" in
        {{Lines(words, (path, list) => $"    '{path}') echo '{string.Join(' ', list)}' ;;")}}    *) return 1 ;;
          esac
        }
        _treepie() {
          local path="" next i
          for ((i = 1; i < COMP_CWORD; i++)); do
            next="${path:+$path }${COMP_WORDS[i]}"
            if _treepie_words "$next" > /dev/null; then path="$next"; fi
          done
          COMPREPLY=($(compgen -W "$(_treepie_words "$path")" -- "${COMP_WORDS[COMP_CWORD]}"))
        }
        complete -o default -F _treepie treepie

        """;

    private static string Fish(CompletionWords words) => $$"""
        function __treepie_words
          switch "$argv[1]"
        {{Lines(words, (path, list) => $"    case '{path}'\n      string split -- ' ' '{string.Join(' ', list)}'")}}    case '*'
              return 1
          end
        end
        function __treepie_complete
          set -l path ''
          for word in (commandline -opc)[2..-1]
            set -l next (string trim "$path $word")
            if __treepie_words "$next" > /dev/null
              set path "$next"
            end
          end
          __treepie_words "$path"
        end
        complete -c treepie -a '(__treepie_complete)'

        """;

    private static string PowerShell(CompletionWords words) => $$"""
        Register-ArgumentCompleter -Native -CommandName treepie -ScriptBlock {
          param($word, $line, $position)
          $words = @{
        {{Lines(words, (path, list) => $"    '{path}' = '{string.Join(' ', list)}'")}}  }
          $path = ''
          foreach ($element in $line.CommandElements | Select-Object -Skip 1) {
            $next = "$path $element".Trim()
            if ($words.ContainsKey($next)) { $path = $next }
          }
          $words[$path] -split ' ' | Where-Object { $_.StartsWith($word) } |
            ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
        }

        """;

    private static string Lines(CompletionWords words, Func<string, string[], string> line)
    {
        var text = new StringBuilder();
        foreach ((string path, string[] list) in words.ByPath)
            text.Append(line(path, list)).Append('\n');
        return text.ToString();
    }
}
