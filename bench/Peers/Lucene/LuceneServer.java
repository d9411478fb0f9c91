import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.LongPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.FieldInvertState;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.LogByteSizeMergePolicy;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.MultiCollector;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.SimpleCollector;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollector;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Lucene 8 as the benchmarks ask it: keeps running, reads a command a line, answers in lines. Times are taken in here, so that neither the pipe nor the
 * reading of a question is in them. Of ready queries the way is the usual one: IndexSearcher, no query cache, files mapped.
 */
public final class LuceneServer {
    private static final int TOP = 10;

    private static DirectoryReader reader;
    private static IndexSearcher searcher;
    private static volatile boolean feeding;
    private static Thread feeder;
    private static volatile long fed;
    private static volatile long clearedBytes;

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            switch (parts[0]) {
                case "index" -> out.println(index(Path.of(parts[1]), Path.of(parts[2]), Integer.parseInt(parts[3]), TextField.TYPE_NOT_STORED));
                case "index-words" -> out.println(index(Path.of(parts[1]), Path.of(parts[2]), Integer.parseInt(parts[3]), withWords()));
                case "merge" -> out.println(merge(Path.of(parts[1])));
                case "open" -> open(Path.of(parts[1]), out);
                case "close" -> {
                    reader.close();
                    reader = null;
                    out.println("ok");
                }
                case "terms" -> out.println(terms());
                case "ask" -> {
                    List<String> questions = new ArrayList<>();
                    for (int i = Integer.parseInt(parts[1]); i > 0; i--) {
                        questions.add(in.readLine());
                    }
                    ask(questions, Long.parseLong(parts[2]) * 1_000_000, out);
                }
                case "cold" -> out.println(cold(Path.of(parts[1]), parts[2]));
                case "feed" -> feed(Path.of(parts[1]), Path.of(parts[2]), Integer.parseInt(parts[3]), out);
                case "rest" -> rest(out);
                case "memory" -> out.println(memory());
                case "clear" -> {
                    clear();
                    out.println("ok");
                }
                case "quit" -> {
                    return;
                }
                default -> out.println("? " + line);
            }
            out.flush();
        }
    }

    /** Documents of a file, a line each: tr, num, day, text, cut by tabs. Every batch is committed, which syncs its files. */
    private static String index(Path folder, Path file, int batch, FieldType text) throws IOException {
        clear();
        long cpu = cpuNanos();
        long began = System.nanoTime();
        int count = 0;
        try (var directory = new MMapDirectory(folder); var writer = new IndexWriter(directory, config()); BufferedReader lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                writer.addDocument(document(count++, line, text));
                if (count % batch == 0) {
                    writer.commit();
                }
            }
            writer.commit();
        }
        return count + "\t" + (System.nanoTime() - began) / 1e9 + "\t" + (cpuNanos() - cpu) / 1e9 + "\t" + memory();
    }

    /** Merges all segments into one, which is the form its queries are fastest in. */
    private static String merge(Path folder) throws IOException {
        long cpu = cpuNanos();
        long began = System.nanoTime();
        try (var directory = new MMapDirectory(folder); var writer = new IndexWriter(directory, config())) {
            writer.forceMerge(1);
            writer.commit();
        }
        return (System.nanoTime() - began) / 1e9 + "\t" + (cpuNanos() - cpu) / 1e9;
    }

    private static IndexWriterConfig config() {
        var config = new IndexWriterConfig(new StandardAnalyzer());
        config.setSimilarity(new ExactLengths());
        config.setRAMBufferSizeMB(64);
        config.setMergePolicy(new LogByteSizeMergePolicy()); // documents keep their order, so that ties fall as elsewhere
        return config;
    }

    /** As text, and the words of each document can be asked for: without places, which are in the lists of the words. */
    private static FieldType withWords() {
        var type = new FieldType(TextField.TYPE_NOT_STORED);
        type.setStoreTermVectors(true);
        type.freeze();
        return type;
    }

    private static Document document(int number, String line, FieldType text) {
        String[] parts = line.split("\t", 4);
        long num = Long.parseLong(parts[1]);
        long day = Long.parseLong(parts[2]);
        var document = new Document();
        document.add(new StringField("id", Integer.toString(number), Field.Store.YES));
        document.add(new Field("text", parts[3], text));
        document.add(new StringField("tr", parts[0], Field.Store.NO));
        document.add(new SortedDocValuesField("tr", new BytesRef(parts[0])));
        document.add(new LongPoint("num", num));
        document.add(new NumericDocValuesField("num", num));
        document.add(new LongPoint("day", day));
        document.add(new NumericDocValuesField("day", day));
        return document;
    }

    private static void open(Path folder, PrintStream out) throws IOException {
        if (reader != null) {
            reader.close();
        }
        reader = DirectoryReader.open(new MMapDirectory(folder));
        searcher = searcherOf(reader);
        out.println(reader.numDocs() + "\t" + reader.leaves().size());
    }

    private static IndexSearcher searcherOf(DirectoryReader reader) {
        var searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
        searcher.setSimilarity(new ExactLengths());
        return searcher;
    }

    private static String terms() throws IOException {
        Terms terms = MultiTerms.getTerms(reader, "text");
        long count = 0;
        TermsEnum each = terms.iterator();
        while (each.next() != null) {
            count++;
        }
        return count + "\t" + terms.getSumTotalTermFreq() + "\t" + terms.getDocCount();
    }

    /** Opens the index anew, asks one question, closes it. */
    private static String cold(Path folder, String question) throws IOException {
        long began = System.nanoTime();
        try (DirectoryReader fresh = DirectoryReader.open(new MMapDirectory(folder))) {
            Answer answer = run(searcherOf(fresh), question.split(" "));
            return answer.total + "\t" + (System.nanoTime() - began);
        }
    }

    /** Asks one after the other, again and again for so long; gives of each hits, whether that is their exact number, the median of its times, the best with their scores, the first time. */
    private static void ask(List<String> questions, long nanos, PrintStream out) throws IOException {
        IndexSearcher current = searcher;
        var answers = new Answer[questions.size()];
        List<List<Long>> times = new ArrayList<>();
        List<String[]> cut = new ArrayList<>();
        for (String question : questions) {
            cut.add(question.split(" "));
            times.add(new ArrayList<>());
        }
        long start = System.nanoTime();
        do {
            for (int i = 0; i < answers.length; i++) {
                long began = System.nanoTime();
                answers[i] = run(current, cut.get(i));
                times.get(i).add(System.nanoTime() - began);
            }
        } while (System.nanoTime() - start < nanos);
        for (int i = 0; i < answers.length; i++) {
            long first = times.get(i).get(0);
            times.get(i).sort(null);
            long median = times.get(i).get((times.get(i).size() - 1) / 2);
            out.println(lineOf(answers[i], median) + '\t' + first);
        }
    }

    private static String lineOf(Answer answer, long nanos) {
        var text = new StringBuilder().append(answer.total).append('\t').append(answer.isExact ? 1 : 0).append('\t').append(nanos).append('\t');
        for (int i = 0; i < answer.hits.length; i++) {
            text.append(i == 0 ? "" : " ").append(answer.hits[i].doc).append(':').append(answer.hits[i].score);
        }
        return text.toString();
    }

    private record Answer(long total, boolean isExact, ScoreDoc[] hits) {
        static Answer of(TopDocs docs) {
            return new Answer(docs.totalHits.value, docs.totalHits.relation == TotalHits.Relation.EQUAL_TO, docs.scoreDocs);
        }

        static Answer count(long total) {
            return new Answer(total, true, new ScoreDoc[0]);
        }
    }

    private static Answer run(IndexSearcher searcher, String[] words) throws IOException {
        int plain = words.length;
        while (plain > 1 && isMark(words[plain - 1])) {
            plain--;
        }
        if (plain < words.length) {
            return mixed(searcher, Arrays.copyOf(words, plain), Arrays.copyOfRange(words, plain, words.length));
        }
        switch (words[0]) {
            case "any":
                return Answer.of(searcher.search(both(words, 1, BooleanClause.Occur.SHOULD), TOP));
            case "all":
                return Answer.of(searcher.search(both(words, 1, BooleanClause.Occur.MUST), TOP));
            case "count-all":
                return Answer.count(searcher.count(both(words, 1, BooleanClause.Occur.MUST)));
            case "count-any":
                return Answer.count(searcher.count(both(words, 1, BooleanClause.Occur.SHOULD)));
            case "phrase":
                return Answer.of(searcher.search(new PhraseQuery("text", Arrays.copyOfRange(words, 1, words.length)), TOP));
            case "prefix":
                return Answer.of(searcher.search(new PrefixQuery(new Term("text", words[1])), TOP));
            case "count-prefix":
                return Answer.count(searcher.count(new PrefixQuery(new Term("text", words[1]))));
            case "range-num":
                return Answer.of(searcher.search(range(words, 1), TOP, by("num")));
            case "sort-day":
                return Answer.of(searcher.search(new MatchAllDocsQuery(), TOP, by("day")));
            case "term-num":
                return Answer.of(searcher.search(term(words[1]), TOP, by("num")));
            case "term-range-num":
                var both = new BooleanQuery.Builder();
                both.add(term(words[1]), BooleanClause.Occur.FILTER);
                both.add(range(words, 2), BooleanClause.Occur.FILTER);
                return Answer.of(searcher.search(both.build(), TOP, by("num")));
            case "facet":
                return facet(searcher, term(words[1]));
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    /** Whether a word of a question is none of its text, but something beside it: +num:1:2 +tr:x +day:1:2 ^:2.5 -:word =plan =facets =num */
    private static boolean isMark(String word) {
        return "+^-=".indexOf(word.charAt(0)) >= 0;
    }

    private static Answer mixed(IndexSearcher searcher, String[] words, String[] marks) throws IOException {
        float boost = 1;
        boolean facets = false;
        boolean byNumber = false;
        var query = new BooleanQuery.Builder();
        int clauses = 1;
        for (String mark : marks) {
            String[] parts = mark.split(":");
            switch (parts[0]) {
                case "+num", "+day" ->
                    query.add(LongPoint.newRangeQuery(parts[0].substring(1), Long.parseLong(parts[1]), Long.parseLong(parts[2])), BooleanClause.Occur.FILTER);
                case "+tr" -> query.add(new TermQuery(new Term("tr", parts[1])), BooleanClause.Occur.FILTER);
                case "-" -> query.add(term(parts[1]), BooleanClause.Occur.MUST_NOT);
                case "^" -> boost = Float.parseFloat(parts[1]);
                case "=facets" -> facets = true;
                case "=num" -> byNumber = true;
                default -> {
                }
            }
            clauses += "+-".indexOf(mark.charAt(0)) >= 0 ? 1 : 0;
        }
        Query text = text(words, boost);
        Query whole = clauses == 1 ? text : query.add(text, byNumber ? BooleanClause.Occur.FILTER : BooleanClause.Occur.MUST).build();
        if (byNumber) {
            return Answer.of(searcher.search(whole, TOP, by("num")));
        }
        if (!facets) {
            return Answer.of(searcher.search(whole, TOP));
        }
        var groups = new FacetCollector();
        var best = TopScoreDocCollector.create(TOP, Integer.MAX_VALUE); // all hits are met
        searcher.search(whole, MultiCollector.wrap(best, groups));
        groups.finishSegment();
        return Answer.of(best.topDocs());
    }

    private static Query text(String[] words, float boost) {
        if (words[0].equals("phrase")) {
            Query phrase = new PhraseQuery("text", Arrays.copyOfRange(words, 1, words.length));
            return boost == 1 ? phrase : new BoostQuery(phrase, boost);
        }
        var occur = words[0].equals("any") ? BooleanClause.Occur.SHOULD : BooleanClause.Occur.MUST;
        if (boost == 1) {
            return both(words, 1, occur);
        }
        Query first = new BoostQuery(term(words[1]), boost);
        if (words.length == 2) {
            return first;
        }
        var query = new BooleanQuery.Builder().add(first, occur);
        for (int i = 2; i < words.length; i++) {
            query.add(term(words[i]), occur);
        }
        return query.build();
    }

    private static Query term(String word) {
        return new TermQuery(new Term("text", word));
    }

    private static Query range(String[] words, int from) {
        return LongPoint.newRangeQuery("num", Long.parseLong(words[from]), Long.parseLong(words[from + 1]));
    }

    private static Sort by(String field) {
        var key = new SortField(field, SortField.Type.LONG);
        key.setCanUsePoints(); // lets it leave out what cannot be among the first
        return new Sort(key);
    }

    private static Query both(String[] words, int from, BooleanClause.Occur occur) {
        if (words.length == from + 1) {
            return term(words[from]);
        }
        var query = new BooleanQuery.Builder();
        for (int i = from; i < words.length; i++) {
            query.add(term(words[i]), occur);
        }
        return query.build();
    }

    private static Answer facet(IndexSearcher searcher, Query query) throws IOException {
        var collector = new FacetCollector();
        searcher.search(query, collector);
        collector.finishSegment();
        return Answer.count(collector.total);
    }

    /** Counts hits by the ordinals of a column, segment by segment, as its facet module does. */
    private static final class FacetCollector extends SimpleCollector {
        private final TreeMap<String, Integer> counts = new TreeMap<>();
        private SortedDocValues values;
        private int[] byOrdinal = new int[0];
        private long total;

        @Override
        protected void doSetNextReader(LeafReaderContext context) throws IOException {
            finishSegment();
            values = DocValues.getSorted(context.reader(), "tr");
            byOrdinal = new int[values.getValueCount()];
        }

        @Override
        public void collect(int doc) throws IOException {
            total++;
            if (values.advanceExact(doc)) {
                byOrdinal[values.ordValue()]++;
            }
        }

        @Override
        public ScoreMode scoreMode() {
            return ScoreMode.COMPLETE_NO_SCORES;
        }

        void finishSegment() throws IOException {
            for (int i = 0; i < byOrdinal.length; i++) {
                if (byOrdinal[i] > 0) {
                    counts.merge(values.lookupOrd(i).utf8ToString(), byOrdinal[i], Integer::sum);
                }
            }
        }
    }

    /** Indexes a file again and again into a folder of its own, a commit for each batch, until told to rest. */
    private static void feed(Path folder, Path file, int batch, PrintStream out) {
        feeding = true;
        fed = 0;
        feeder = new Thread(() -> {
            try (var directory = new MMapDirectory(folder); var writer = new IndexWriter(directory, config())) {
                int count = writer.getDocStats().numDocs;
                while (feeding) {
                    try (BufferedReader lines = Files.newBufferedReader(file)) {
                        for (String line = lines.readLine(); line != null && feeding; line = lines.readLine()) {
                            writer.addDocument(document(count++, line, TextField.TYPE_NOT_STORED));
                            fed++;
                            if (count % batch == 0) {
                                writer.commit();
                                DirectoryReader newer = DirectoryReader.openIfChanged(reader);
                                if (newer != null) {
                                    reader = newer; // the older one is left to its last search
                                    searcher = searcherOf(newer);
                                }
                            }
                        }
                    }
                }
                writer.commit();
            } catch (IOException error) {
                throw new RuntimeException(error);
            }
        });
        feeder.start();
        out.println("ok");
    }

    private static void rest(PrintStream out) throws InterruptedException {
        feeding = false;
        feeder.join();
        out.println(fed);
    }

    /** Frees what is not in use and begins to look for peaks anew. */
    private static void clear() {
        System.gc();
        clearedBytes = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            pool.resetPeakUsage();
            clearedBytes += pool.getType() == MemoryType.HEAP ? pool.getUsage().getUsed() : 0;
        }
    }

    /** Heap in use after the last clearing, its peak since then, resident memory without files, all in bytes; processor time of collections is in that of the process. */
    private static String memory() throws IOException {
        long peak = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            peak += pool.getType() == MemoryType.HEAP ? pool.getPeakUsage().getUsed() : 0;
        }
        long collections = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += collector.getCollectionCount();
        }
        long anonymous = 0;
        Path status = Path.of("/proc/self/status");
        if (Files.exists(status)) {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith("RssAnon:")) {
                    anonymous = Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
                }
            }
        }
        return clearedBytes + "\t" + peak + "\t" + anonymous + "\t" + collections;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /**
     * BM25 as Lucene reckons it, over lengths that are kept as they are: its own class keeps of lengths from 40 on only four bits, and scores could not be
     * compared. The cost is the same: one number a document, one look into a table.
     */
    private static final class ExactLengths extends Similarity {
        private static final float K1 = 1.2f;
        private static final float B = 0.75f;
        private static final int TABLE = 1 << 12;

        @Override
        public long computeNorm(FieldInvertState state) {
            return Math.min(TABLE - 1, state.getLength());
        }

        @Override
        public SimScorer scorer(float boost, CollectionStatistics collection, TermStatistics... terms) {
            double idf = 0;
            for (TermStatistics term : terms) {
                idf += Math.log(1 + (collection.docCount() - term.docFreq() + 0.5) / (term.docFreq() + 0.5));
            }
            var factors = new float[TABLE];
            double average = collection.sumTotalTermFreq() / (double) collection.docCount();
            for (int length = 0; length < TABLE; length++) {
                factors[length] = (float) (1 / (K1 * (1 - B + B * length / average)));
            }
            float weight = (float) (boost * idf);
            return new SimScorer() {
                @Override
                public float score(float frequency, long norm) {
                    return weight - weight / (1f + frequency * factors[(int) norm]);
                }
            };
        }
    }
}
