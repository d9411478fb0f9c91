// Makes the data sets in this folder from their sources. Run it from the repository's root when they change:
//
//     dotnet run samples/datasets/build.cs -- <folder with movies, cities, wordnet and verses-en .ndjson.gz>
//
// The same sources give the same bytes. README.md beside this file says what comes from where, and under which licence.
#:property PublishAot=false

using System.IO.Compression;
using System.Text.Json;

const int verses = 50_000;

// Whole topics, so that a test may ask for one of them, and all verbs and adverbs.
string[] topics = ["noun.animal", "noun.food", "noun.plant", "noun.Tops"];

if (args is not [var source])
{
    Console.Error.WriteLine("usage: dotnet run samples/datasets/build.cs -- <folder with the sources>");
    return 2;
}

string target = Path.Combine(Directory.GetCurrentDirectory(), "samples", "datasets");
Write("movies.ndjson.gz", Read("movies.ndjson.gz"));
Write("cities.ndjson.gz", Read("cities.ndjson.gz"));
Write("wordnet.ndjson.gz", Words());
Write("verses-en.ndjson.gz", Read("verses-en.ndjson.gz").Take(verses));
return 0;

// Every hypernym of a synset that is kept is kept too, so that includes find what they name.
IEnumerable<string> Words()
{
    var lines = new Dictionary<string, string>();
    var hypernyms = new Dictionary<string, string[]>();
    var wanted = new Queue<string>();
    foreach (string line in Read("wordnet.ndjson.gz"))
    {
        using JsonDocument parsed = JsonDocument.Parse(line);
        JsonElement synset = parsed.RootElement;
        string id = synset.GetProperty("id").GetString()!["synsets/".Length..]; // every synset has an id
        lines.Add(id, line);
        hypernyms[id] = synset.TryGetProperty("hypernym", out JsonElement above)
            ? [.. above.EnumerateArray().Select(value => value.GetString()!)]
            : [];
        if (topics.Contains(synset.GetProperty("topic").GetString())
            || synset.GetProperty("partOfSpeech").GetString() is "v" or "r")
            wanted.Enqueue(id);
    }

    var kept = new HashSet<string>();
    while (wanted.TryDequeue(out string? id))
    {
        if (!kept.Add(id))
            continue;
        foreach (string above in hypernyms[id])
            wanted.Enqueue(above);
    }

    return lines.Where(line => kept.Contains(line.Key)).Select(line => line.Value);
}

IEnumerable<string> Read(string file)
{
    using var reader = new StreamReader(new GZipStream(File.OpenRead(Path.Combine(source, file)), CompressionMode.Decompress));
    while (reader.ReadLine() is { } line)
        yield return line;
}

void Write(string file, IEnumerable<string> lines)
{
    string path = Path.Combine(target, file);
    using (var writer = new StreamWriter(new GZipStream(File.Create(path), CompressionLevel.SmallestSize)) { NewLine = "\n" })
        foreach (string line in lines)
            writer.WriteLine(line);
    Console.WriteLine($"{file}: {new FileInfo(path).Length:N0} bytes");
}
